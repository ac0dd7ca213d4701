// SPDX-License-Identifier: MIT
// An observer that keeps what the emulator's stages made, record by record, for comparison with a model's signals. It
// keeps a bounded number of records, the first ones.
#pragma once

#include <qwengpu/machine/observer.hpp>

#include <cstdint>
#include <utility>
#include <vector>

namespace qwengpu::diff {

class stage_trace : public machine::observer {
public:
    /// 288 bytes a record of four lanes: 36 MB.
    static constexpr std::size_t default_records = std::size_t{1} << 17;

    explicit stage_trace(std::size_t most_records = default_records) : most_(most_records) {}

    void record(int, int, machine::lane_mask) override {
        if (begins_.size() < most_) begins_.push_back(made_.size());
        full_ = ++seen_ > most_;
    }
    void stages(int lane, const machine::lane_evaluation& made) override {
        if (!full_) made_.emplace_back(lane, made);
    }

    /// What a lane made in record `index` (from 0), or nullptr if that is not known; `anew`: when its turn came, if it was
    /// evaluated anew then.
    [[nodiscard]] const machine::lane_evaluation* find(std::size_t index, int lane, bool anew) const {
        if (index >= begins_.size()) return nullptr;
        const std::size_t end = index + 1 < begins_.size() ? begins_[index + 1] : made_.size();
        const machine::lane_evaluation* found = nullptr;
        for (std::size_t i = begins_[index]; i < end && (anew || found == nullptr); ++i)
            if (made_[i].first == lane) found = &made_[i].second;
        return found;
    }

private:
    std::size_t most_, seen_ = 0;
    bool full_ = false;
    std::vector<std::size_t> begins_;
    std::vector<std::pair<int, machine::lane_evaluation>> made_;
};

}  // namespace qwengpu::diff
