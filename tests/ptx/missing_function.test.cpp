// SPDX-License-Identifier: MIT
// What is said of functions that no file has: printf, the heap, launches inside kernels, doubles, all others; and that a call of
// one of them from PTX is refused with these words, at its place.
#include <qwengpu/ptx/missing_function.hpp>

#include <string>

#include "support/catch.hpp"

#include "run_kernel.hpp"

using namespace qwengpu;

namespace {

std::string refusal_of_call(const std::string& declared, const std::string& call) {
    std::string text = test::kernel_around(call);
    text.insert(text.find(".visible"), declared);
    try {
        test::compile_text(text, "k");
    } catch (const error& e) {
        return e.what();
    }
    return "none";
}

}  // namespace

TEST_CASE("functions of CUDA's run-time system, with a remedy", "[ptx]") {
    const auto why = [](const char* name) { return ptx::detail::why_missing(name); };
    CHECK(why("vprintf") == "printf is not supported: a kernel has nowhere to print to; store what you want to see in a buffer");
    CHECK(why("malloc") == "malloc, which operator new calls too, is not supported: a kernel has no heap; use an array of fixed size or a buffer");
    CHECK(why("free") == "free, which operator delete calls too, is not supported: a kernel has no heap; use an array of fixed size or a buffer");
    CHECK(why("_Znam").starts_with("operator new is not supported: a kernel has no heap"));
    CHECK(why("_ZdlPvm").starts_with("operator delete is not supported: a kernel has no heap"));
    CHECK(why("cudaLaunchDeviceV2") == "a kernel cannot launch kernels; launch them one after another");
    CHECK(why("qwengpu_f64_sin") == "sin of a double is not supported; use float: sinf, and constants such as 2.0f");
    CHECK(why("other") == "the function other has no body in this file; only functions of the file can be called");
}

TEST_CASE("a call of printf or malloc is refused at its place", "[ptx]") {
    CHECK(refusal_of_call(".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n",
                          "{.param .b32 r; .param .b64 a; .param .b64 b; st.param.b64 [a], 0; st.param.b64 [b], 0;\ncall.uni (r), vprintf, (a, b);}") ==
          "test.ptx:22:1: printf is not supported: a kernel has nowhere to print to; store what you want to see in a buffer [ptx.unsupported]");
    CHECK(refusal_of_call(".extern .func (.param .b64 r) malloc(.param .b64 n);\n",
                          "{.param .b64 r; .param .b64 n; st.param.b64 [n], 8;\n call.uni (r), malloc, (n);}")
              .starts_with("test.ptx:22:2: malloc, which operator new calls too, is not supported"));
}
