"""Rules of other hosts as rule files of ours: text in, text out; nothing is run, installed or trusted."""
