"""Pure statistics: arrays in, frozen dataclasses or arrays out."""
