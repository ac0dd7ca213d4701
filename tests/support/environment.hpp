// SPDX-License-Identifier: MIT
// Environment variables for a test, put back at its end.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

namespace qwengpu::test {

class environment_variable {
public:
    environment_variable(std::string name, const std::string& value) : name_(std::move(name)) {
        if (const char* before = std::getenv(name_.c_str())) before_ = before;
        ::setenv(name_.c_str(), value.c_str(), 1);
    }
    ~environment_variable() {
        if (before_) ::setenv(name_.c_str(), before_->c_str(), 1);
        else ::unsetenv(name_.c_str());
    }
    environment_variable(const environment_variable&) = delete;
    environment_variable& operator=(const environment_variable&) = delete;

private:
    std::string name_;
    std::optional<std::string> before_;
};

}  // namespace qwengpu::test
