/** Thumbnails with their boxes, fetched as they scroll into view; one click shows the whole picture. */
import { useQuery } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useMemo, useRef, useState, type ReactNode } from "react";
import { datasetImagesQuery, imageContent, type ImageFilter } from "../../api/queries";
import type { Address } from "../../api/client";
import { usePicture } from "../../api/picture";
import type { Dataset, LabelledImage } from "../../api/types";
import { plural } from "../../text/format";
import { Empty, ErrorNote } from "../../ui/parts";
import { Boxes, type DrawnBox } from "./Boxes";
import { ImageView } from "./ImageView";

const PAGE = 60;
const CELL_PX = 180;
const GAP_PX = 8;
const THUMBNAIL_PX = 320;

interface Props {
  dataset: Dataset;
  filter: ImageFilter;
  onFilter: (filter: ImageFilter) => void;
}

export function ImageGrid({ dataset, filter, onFilter }: Props): ReactNode {
  const first = useQuery(datasetImagesQuery(dataset, filter, 0, PAGE));
  const total = first.data?.pagination.total ?? 0;
  const names = useMemo(() => new Map((dataset.classes ?? []).map((each) => [each.id, each.name])), [dataset]);
  return (
    <>
      <div className="row wrap" style={{ padding: "var(--s3)" }}>
        {(dataset.annotations?.length ?? 0) > 1 && (
          <select
            className="select"
            aria-label="Label file"
            value={filter.annotation}
            onChange={(event) => onFilter({ ...filter, annotation: Number(event.target.value) })}
          >
            {dataset.annotations!.map((path, at) => (
              <option key={path} value={at}>
                {path}
              </option>
            ))}
          </select>
        )}
        <select
          className="select"
          aria-label="Class"
          value={filter.category ?? ""}
          onChange={(event) =>
            onFilter({ ...filter, category: event.target.value === "" ? null : Number(event.target.value) })
          }
        >
          <option value="">All classes</option>
          {(dataset.classes ?? []).map((each) => (
            <option key={each.id} value={each.id}>
              {each.name}
            </option>
          ))}
        </select>
        <span className="muted">{first.isPending ? "…" : plural(total, "picture")}</span>
      </div>
      <ErrorNote error={first.error} />
      {total > 0 ? (
        <Pictures
          key={`${filter.annotation}/${filter.category}`}
          dataset={dataset}
          filter={filter}
          total={total}
          names={names}
        />
      ) : (
        !first.isPending && !first.error && <Empty title="No picture has this class" />
      )}
    </>
  );
}

interface PicturesProps {
  dataset: Dataset;
  filter: ImageFilter;
  total: number;
  names: ReadonlyMap<number, string>;
}

function Pictures({ dataset, filter, total, names }: PicturesProps): ReactNode {
  const scroller = useRef<HTMLDivElement>(null);
  const columns = useColumns(scroller);
  const [open, setOpen] = useState<number | null>(null);
  const virtual = useVirtualizer({
    count: Math.ceil(total / columns),
    getScrollElement: () => scroller.current,
    estimateSize: () => CELL_PX + GAP_PX,
    overscan: 2,
  });
  return (
    <div ref={scroller} className="image-grid" style={{ maxHeight: 560 }} tabIndex={0} aria-label="Pictures">
      <div style={{ height: virtual.getTotalSize(), position: "relative" }}>
        {virtual.getVirtualItems().map((row) => (
          <div
            key={row.key}
            className="image-row"
            style={{ transform: `translateY(${row.start}px)`, gridTemplateColumns: `repeat(${columns}, 1fr)` }}
          >
            {Array.from({ length: Math.min(columns, total - row.index * columns) }, (_, column) => {
              const at = row.index * columns + column;
              return (
                <Cell key={at} dataset={dataset} filter={filter} at={at} names={names} onOpen={() => setOpen(at)} />
              );
            })}
          </div>
        ))}
      </div>
      {open !== null && (
        <Opened
          dataset={dataset}
          filter={filter}
          at={open}
          total={total}
          names={names}
          onMove={setOpen}
          onClose={() => setOpen(null)}
        />
      )}
    </div>
  );
}

function useColumns(element: React.RefObject<HTMLDivElement | null>): number {
  const [columns, setColumns] = useState(4);
  useEffect(() => {
    const watch = new ResizeObserver(([entry]) =>
      setColumns(Math.max(2, Math.floor((entry?.contentRect.width ?? 800) / (CELL_PX + GAP_PX)))),
    );
    if (element.current) watch.observe(element.current);
    return () => watch.disconnect();
  }, [element]);
  return columns;
}

function useImage(dataset: Dataset, filter: ImageFilter, at: number): LabelledImage | undefined {
  const offset = Math.floor(at / PAGE) * PAGE;
  return useQuery(datasetImagesQuery(dataset, filter, offset, PAGE)).data?.images[at - offset];
}

export const boxesOf = (image: LabelledImage, names: ReadonlyMap<number, string>): DrawnBox[] =>
  (image.boxes ?? []).map(({ bbox: [x = 0, y = 0, width = 0, height = 0], categoryId }) => ({
    box: [x, y, x + width, y + height],
    label: names.get(categoryId) ?? String(categoryId),
    color: categoryId,
  }));

interface CellProps {
  dataset: Dataset;
  filter: ImageFilter;
  at: number;
  names: ReadonlyMap<number, string>;
  onOpen: () => void;
}

function Cell({ dataset, filter, at, names, onOpen }: CellProps): ReactNode {
  const image = useImage(dataset, filter, at);
  if (!image) return <div className="image-cell skeleton" style={{ height: CELL_PX }} />;
  return (
    <button className="image-cell" style={{ height: CELL_PX }} title={image.fileName} onClick={onOpen}>
      <Thumbnail path={imageContent(dataset, image.path, THUMBNAIL_PX)} image={image} names={names} />
      <span className="image-note">{plural(image.boxes?.length ?? 0, "label")}</span>
    </button>
  );
}

function Thumbnail({
  path,
  image,
  names,
}: {
  path: Address;
  image: LabelledImage;
  names: ReadonlyMap<number, string>;
}): ReactNode {
  const { url, error } = usePicture(path);
  if (error) return <span className="faint">{error instanceof Error ? error.message : "cannot be shown"}</span>;
  return (
    <Boxes width={image.width} height={image.height} boxes={boxesOf(image, names)} thin>
      {url && <image href={url} width={image.width} height={image.height} preserveAspectRatio="none" />}
    </Boxes>
  );
}

interface OpenedProps extends PicturesProps {
  at: number;
  onMove: (at: number) => void;
  onClose: () => void;
}

function Opened({ dataset, filter, at, total, names, onMove, onClose }: OpenedProps): ReactNode {
  const image = useImage(dataset, filter, at);
  const picture = usePicture(image ? imageContent(dataset, image.path) : null);
  if (!image) return null;
  return (
    <ImageView
      title={image.fileName}
      note={`${at + 1} of ${total}, ${image.width} × ${image.height} pixels, ${plural(image.boxes?.length ?? 0, "label")}`}
      picture={picture}
      width={image.width}
      height={image.height}
      boxes={boxesOf(image, names)}
      onClose={onClose}
      {...(at > 0 ? { onBack: () => onMove(at - 1) } : {})}
      {...(at < total - 1 ? { onNext: () => onMove(at + 1) } : {})}
    />
  );
}
