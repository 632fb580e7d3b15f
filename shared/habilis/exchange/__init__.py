"""One conversation with a service, without input or output: requests filled, answers read, results picked."""
