// SPDX-License-Identifier: MIT
// Runs a program with arguments (no shell), gathers what it prints, and ends it and its children when it takes too long.
#pragma once

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <qwengpu/error.hpp>

extern char** environ;

namespace qwengpu::cuda {

struct process_result {
    int status = 0;          ///< exit status; 128 + signal if a signal ended it
    bool timed_out = false;  ///< it was ended because it took too long
    std::string output;      ///< standard output and error together, as much as is kept
};

namespace detail {

inline constexpr std::size_t kept_output = 1U << 20;

class pipe_pair {
public:
    pipe_pair() {
        if (::pipe2(ends_, O_CLOEXEC) != 0)
            throw error("process.start", std::string("no pipe can be made: ") + std::strerror(errno));
    }
    ~pipe_pair() {
        close(0);
        close(1);
    }
    pipe_pair(const pipe_pair&) = delete;
    pipe_pair& operator=(const pipe_pair&) = delete;

    [[nodiscard]] int read_end() const { return ends_[0]; }
    [[nodiscard]] int write_end() const { return ends_[1]; }
    void close(int which) {
        if (ends_[which] >= 0) ::close(ends_[which]);
        ends_[which] = -1;
    }

private:
    int ends_[2] = {-1, -1};
};

inline std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> p;
    for (std::string& t : texts) p.push_back(t.data());
    p.push_back(nullptr);
    return p;
}

/// This process's environment with some variables replaced ("NAME=value").
inline std::vector<std::string> environment_with(const std::vector<std::string>& replaced) {
    std::vector<std::string> all = replaced;
    for (char** e = environ; e != nullptr && *e != nullptr; ++e) {
        const std::string entry = *e;
        const std::string name = entry.substr(0, entry.find('=') + 1);
        bool taken = false;
        for (const std::string& r : replaced) taken = taken || r.starts_with(name);
        if (!taken) all.push_back(entry);
    }
    return all;
}

/// In the child: only calls that are safe between fork and exec. Tells errno through `failed` if the program cannot be started.
[[noreturn]] inline void become(char** argv, char** env, int output, int failed) {
    ::setpgid(0, 0);
    const int null = ::open("/dev/null", O_RDONLY);
    ::dup2(null, 0);
    ::dup2(output, 1);
    ::dup2(output, 2);
    ::execve(argv[0], argv, env);
    const int why = errno;
    [[maybe_unused]] const auto told = ::write(failed, &why, sizeof why);
    ::_exit(127);
}

/// Reads until the other end is closed or the deadline has passed; true if it was in time.
inline bool read_all(int from, std::chrono::steady_clock::time_point deadline, std::string& text) {
    char part[1 << 12];
    for (;;) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
        if (left <= 0) return false;
        pollfd wait{from, POLLIN, 0};
        const int ready = ::poll(&wait, 1, static_cast<int>(std::min<long>(left, 1000)));
        if (ready < 0 && errno != EINTR) return true;
        if (ready <= 0) continue;
        const auto n = ::read(from, part, sizeof part);
        if (n == 0) return true;
        if (n > 0 && text.size() < kept_output) text.append(part, static_cast<std::size_t>(n));
    }
}

inline int wait_for(pid_t child) {
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace detail

/// Runs `arguments[0]` (a path) with its arguments; `environment` replaces variables. Throws error "process.start" if it cannot
/// be started.
inline process_result run(std::vector<std::string> arguments, std::chrono::milliseconds limit,
                          const std::vector<std::string>& environment = {}) {
    detail::pipe_pair output, failed;
    auto env_texts = detail::environment_with(environment);
    auto argv = detail::pointers(arguments), env = detail::pointers(env_texts);
    const auto deadline = std::chrono::steady_clock::now() + limit;
    const pid_t child = ::fork();
    if (child < 0) throw error("process.start", std::string("no process can be started: ") + std::strerror(errno));
    if (child == 0) detail::become(argv.data(), env.data(), output.write_end(), failed.write_end());
    output.close(1);
    failed.close(1);
    process_result r;
    r.timed_out = !detail::read_all(output.read_end(), deadline, r.output);
    if (r.timed_out) ::kill(-child, SIGKILL);
    r.status = detail::wait_for(child);
    int why = 0;
    if (::read(failed.read_end(), &why, sizeof why) == static_cast<ssize_t>(sizeof why))
        throw error("process.start", "'" + arguments[0] + "' cannot be started: " + std::strerror(why));
    return r;
}

}  // namespace qwengpu::cuda
