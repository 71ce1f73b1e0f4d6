"""A COCO set built up image by image, with class names numbered as they come. Shared by the readers."""

from dataclasses import dataclass, field

from resolute.imagery.coco import Annotation, Category, Dataset, Image, Number, Segmentation, number

Corners = tuple[float, float, float, float]


@dataclass
class DatasetBuilder:
    dataset: Dataset = field(default_factory=Dataset)
    _ids: dict[str, int] = field(default_factory=dict)

    def add_category(self, name: str, category_id: int | None = None) -> int:
        """The id of a class; a new name gets the next id from 0."""
        if name not in self._ids:
            chosen = len(self._ids) if category_id is None else category_id
            self._ids[name] = chosen
            self.dataset.categories.append(Category(id=chosen, name=name, supercategory=name))
        return self._ids[name]

    def add_image(self, file_name: str, width: int, height: int) -> int:
        image_id = len(self.dataset.images) + 1
        self.dataset.images.append(Image(height=height, width=width, id=image_id, file_name=file_name))
        return image_id

    def add_box(self, image_id: int, category_id: int, corners: Corners, mask: Segmentation | None = None) -> None:
        x1, y1, x2, y2 = corners
        box: list[Number] = [x1, y1, x2 - x1, y2 - y1]
        self.dataset.annotations.append(
            Annotation(
                image_id=image_id,
                bbox=box,
                segmentation=mask or [],
                category_id=category_id,
                id=len(self.dataset.annotations) + 1,
                area=number((x2 - x1) * (y2 - y1)),
            )
        )


def usable(annotation: Annotation) -> bool:
    return len(annotation.bbox) == 4 and annotation.bbox[2] > 0 and annotation.bbox[3] > 0
