"""Other label formats, each to and from COCO. One module a format: `read(folder, ...)` and `write(dataset, folder)`."""
