"""Numbers that services count, as rows by day: from the answers to what is stored, without any input or output."""
