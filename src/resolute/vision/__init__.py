"""Object detection: model zoo, data, training, COCO metrics, sliced inference. Needs `pip install 'resolute[vision]'`."""
