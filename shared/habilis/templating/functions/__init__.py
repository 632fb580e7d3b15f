"""The functions that placeholders may call: a fixed table, pure, each in the file of what it works on."""
