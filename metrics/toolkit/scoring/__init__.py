"""From items to statistics to scores, on one machine or many."""
