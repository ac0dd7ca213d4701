// SPDX-License-Identifier: MIT
// qwengpu prompt: launches as text for other engines: the prompt, and the transcript that the emulator says must follow.
#include "commands.hpp"
#include "session.hpp"

#include <qwengpu/io/launch_file.hpp>
#include <qwengpu/io/result_json.hpp>
#include <qwengpu/launch/prepare.hpp>
#include <qwengpu/text/prompt.hpp>

#include <fmt/format.h>

namespace cli {

int prompt(const prompt_options& options) {
    using qwengpu::io::json;
    using qwengpu::machine::mission;
    auto all = json::array();
    session s;
    qwengpu::launch_options launch;
    launch.max_records = options.max_records;
    for (const auto& file : options.files)
        for (const auto& c : qwengpu::io::read_launch_file(file)) {
            if (!options.name.empty() && c.name != options.name) continue;
            const auto kernel = s.kernel(find_source(c.source, file, options.sources), c.kernel);
            const auto image = qwengpu::prepare<mission>(kernel->program, c.request);
            const auto r = qwengpu::run_emulated(c.request, image, launch);
            all.push_back({{"name", c.name}, {"prompt", qwengpu::io::tokens_json(qwengpu::text::prompt_of(image))}, {"transcript", qwengpu::io::tokens_json(r.best().transcript)}});
        }
    if (all.empty()) throw qwengpu::error("io.case", "no launch of these files has that name");
    fmt::print("{}\n", all.dump());
    return ok;
}

}  // namespace cli
