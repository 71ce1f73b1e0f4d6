"""Pages and orders: from query parameters to the store's requests, and back to what an answer says about itself."""

from dataclasses import dataclass
from typing import Annotated, TypeVar

from fastapi import Depends, Query

from resolute.engine.ports.queries import Page, PageRequest
from resolute.spec.wire.enums import OrderBy
from resolute.spec.wire.paging import Pagination

T = TypeVar("T")

NOTHING = -2
"""A `limit` that asks for the counts alone."""


@dataclass(frozen=True, slots=True)
class PageParams:
    offset: int = 0
    limit: int = 0

    @property
    def request(self) -> PageRequest:
        if self.limit == NOTHING:
            return PageRequest(offset=self.offset, limit=0)
        return PageRequest(offset=self.offset, limit=self.limit if self.limit > 0 else None)

    def cut(self, items: list[T]) -> Page[T]:
        """The page of a list that is whole in memory."""
        return self.request.cut(items)


async def _page_params(
    offset: Annotated[int, Query(description="Where to begin; negative counts from the end.")] = 0,
    limit: Annotated[int, Query(description="At most this many; 0 and -1: all, -2: none.")] = 0,
) -> PageParams:
    return PageParams(offset, limit)


Paging = Annotated[PageParams, Depends(_page_params)]
Order = Annotated[OrderBy, Query(alias="orderBy")]


def pagination(page: Page[T], params: PageParams) -> Pagination:
    return Pagination(
        offset=params.offset,
        limit=params.limit,
        start_index=page.offset,
        end_index=page.offset + len(page.items),
        total=page.total,
    )


def is_descending(order: OrderBy) -> bool:
    return order is OrderBy.DESC
