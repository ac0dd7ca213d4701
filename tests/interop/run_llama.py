# SPDX-License-Identifier: MIT
"""Runs launches on an exported GGUF file with llama.cpp (llama-cpp-python) and compares every token.

    run_llama.py MODEL.gguf LAUNCHES.json [--first N] [--mode decode|prefill|both]

LAUNCHES.json is what `qwengpu prompt` prints. decode: greedy, token by token, all launches side by side as sequences of one
context. prefill: prompt and transcript in one batch, the argmax of each place against the next token.
"""
import ctypes

import llama_cpp as ll
import numpy as np

import launches as common


@ll.llama_log_callback
def print_errors(level, text, _):
    if level >= 4:
        print(text.decode(), end="")


class engine:
    def __init__(self, path, sequences, context, threads):
        ll.llama_log_set(print_errors, None)
        ll.llama_backend_init()
        self.model = ll.llama_model_load_from_file(path.encode(), ll.llama_model_default_params())
        common.need(self.model, f"{path}: llama.cpp does not load it")
        params = ll.llama_context_default_params()
        params.n_ctx, params.n_batch, params.n_ubatch = context * sequences, context, min(context, 512)
        params.n_seq_max, params.n_threads, params.n_threads_batch = sequences, threads, threads
        self.context = ll.llama_init_from_model(self.model, params)
        common.need(self.context, f"{path}: llama.cpp makes no context of it")
        self.vocabulary = ll.llama_model_get_vocab(self.model)
        self.size = ll.llama_vocab_n_tokens(self.vocabulary)
        self.ids = {ll.llama_vocab_get_text(self.vocabulary, token).decode(): token for token in range(self.size)}
        self.batch = ll.llama_batch_init(max(context, sequences), 0, 1)

    def encode(self, words):
        """Ids of the words, looked up in the file's vocabulary; llama.cpp's own tokenizer must make the same of the text."""
        ids = [self.ids[word] for word in words]
        text, room = " ".join(words).encode(), (ctypes.c_int32 * (2 * len(words) + 8))()
        count = ll.llama_tokenize(self.vocabulary, text, len(text), room, len(room), False, True)
        common.need(list(room[:count]) == ids, f"llama.cpp's tokenizer reads {' '.join(words[:4])} ... as other tokens")
        return ids

    def run(self, entries):
        """entries: (token, position, sequence, answer wanted). The argmax of each answer, in order."""
        b = self.batch
        b.n_tokens = len(entries)
        for i, (token, position, sequence, wanted) in enumerate(entries):
            b.token[i], b.pos[i], b.n_seq_id[i], b.logits[i] = token, position, 1, wanted
            b.seq_id[i][0] = sequence
        common.need(ll.llama_decode(self.context, b) == 0, "llama.cpp cannot decode the batch")
        return [self.argmax(i) for i, entry in enumerate(entries) if entry[3]]

    def argmax(self, place):
        return int(np.argmax(np.ctypeslib.as_array(ll.llama_get_logits_ith(self.context, place), (self.size,))))

    def forget(self):
        ll.llama_memory_clear(ll.llama_get_memory(self.context), True)


def decode(engine, launches, prompts, transcripts):
    engine.forget()
    written = [engine.run([(t, p, s, p == len(prompt) - 1) for p, t in enumerate(prompt)]) for s, prompt in enumerate(prompts)]
    end = transcripts[0][-1]
    while True:
        open_ones = [s for s, w in enumerate(written) if w[-1] != end and len(w) < len(transcripts[s])]
        if not open_ones:
            return [common.compare(*three) for three in zip(launches, transcripts, written)]
        answers = engine.run([(written[s][-1], len(prompts[s]) + len(written[s]) - 1, s, True) for s in open_ones])
        for s, answer in zip(open_ones, answers):
            written[s].append(answer)


def prefill(engine, launches, prompts, transcripts):
    counts = []
    for launch, prompt, transcript in zip(launches, prompts, transcripts):
        engine.forget()
        got = engine.run([(t, p, 0, p >= len(prompt) - 1) for p, t in enumerate(prompt + transcript[:-1])])
        counts.append(common.compare(launch, transcript, got))
    return counts


def main():
    options = common.parser("model", threads=2).parse_args()
    launches = common.read(options.launches, options.first)
    longest = max(len(launch["prompt"]) + len(launch["transcript"]) for launch in launches)
    llama = engine(options.model, len(launches), longest, options.threads)
    prompts = [llama.encode(launch["prompt"]) for launch in launches]
    transcripts = [llama.encode(launch["transcript"]) for launch in launches]
    modes = {"prefill": lambda: prefill(llama, launches, prompts, transcripts), "decode": lambda: decode(llama, launches, prompts, transcripts)}
    common.run_modes(options.mode, modes, "llama.cpp", options.model.rpartition("/")[2])


main()
