// SPDX-License-Identifier: MIT
// A line on a terminal that says how far things are, from the first second on; nothing where stderr is no terminal.
#pragma once

#include <chrono>
#include <cstdio>
#include <mutex>
#include <string>

#include <unistd.h>

namespace cli {

class progress {
public:
    progress() : terminal_(isatty(STDERR_FILENO) != 0), begin_(clock::now()), last_(begin_) {}
    ~progress() { clear(); }
    progress(const progress&) = delete;
    progress& operator=(const progress&) = delete;

    /// Shows a line in place of the one before, at most five times a second.
    void show(const std::string& line) {
        const std::scoped_lock lock(mutex_);
        const auto now = clock::now();
        if (!terminal_ || now - begin_ < std::chrono::seconds(1) || now - last_ < std::chrono::milliseconds(200)) return;
        last_ = now;
        shown_ = true;
        std::fprintf(stderr, "\r\033[K%s", line.c_str());
    }

    /// Takes the line away again, before something else is printed.
    void clear() {
        const std::scoped_lock lock(mutex_);
        if (shown_) std::fputs("\r\033[K", stderr);
        shown_ = false;
    }

private:
    using clock = std::chrono::steady_clock;

    bool terminal_, shown_ = false;
    clock::time_point begin_, last_;
    std::mutex mutex_;
};

}  // namespace cli
