/**
 * A table over TanStack Table: columns that can be hidden and sorted, rows that can be picked, virtual when long.
 * Sorting and filtering belong to whoever owns the data (mostly the server); this only says what was asked.
 */
import { columnVisibilityFeature, createColumnHelper, tableFeatures, useTable } from "@tanstack/react-table";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useMemo, useRef, type ReactNode } from "react";
import { Icon } from "./Icon";

export interface Column<T, S extends string = string> {
  id: string;
  title: ReactNode;
  cell: (row: T) => ReactNode;
  /** What the owner sorts by; absent: this column cannot be sorted. */
  sort?: S;
  numeric?: boolean;
  width?: number;
}
export interface Sort<S extends string = string> {
  by: S;
  descending: boolean;
}
interface Props<T, S extends string> {
  rows: readonly T[];
  columns: readonly Column<T, S>[];
  rowId: (row: T) => string;
  hidden?: Readonly<Record<string, boolean>>;
  sort?: Sort<S>;
  onSort?: (sort: Sort<S>) => void;
  picked?: ReadonlySet<string>;
  onPick?: (picked: Set<string>) => void;
  onHover?: (id: string | null) => void;
  lit?: string | null;
  height?: number | string;
  label: string;
  empty?: ReactNode;
  /** Rows whose content is still on its way. */
  isGap?: (row: T) => boolean;
  /** Which rows are in view. */
  onRange?: (first: number, last: number) => void;
}

const ROW_PX = 35;
const OVERSCAN = 12;
const features = tableFeatures({ columnVisibilityFeature });

export function DataTable<T extends object, S extends string = string>(props: Props<T, S>): ReactNode {
  const { rows, columns, rowId, picked, onPick, height, label, isGap, onRange } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const definitions = useMemo(() => {
    const helper = createColumnHelper<typeof features, T>();
    return helper.columns(
      columns.map((column) =>
        helper.display({
          id: column.id,
          header: () => column.title,
          cell: ({ row }) => (isGap?.(row.original) ? <div className="skeleton" /> : column.cell(row.original)),
        }),
      ),
    );
  }, [columns, isGap]);
  const visibility = useMemo(
    () => Object.fromEntries(Object.entries(props.hidden ?? {}).map(([id, off]) => [id, !off])),
    [props.hidden],
  );
  const table = useTable({
    features,
    columns: definitions,
    data: rows as T[],
    getRowId: rowId,
    state: { columnVisibility: visibility },
  });
  const model = table.getRowModel().rows;
  const virtual = useVirtualizer({
    count: model.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: OVERSCAN,
    enabled: height !== undefined,
  });
  const items = height === undefined ? model.map((_, index) => ({ index })) : virtual.getVirtualItems();
  const [first, last] = [items[0]?.index ?? 0, items.at(-1)?.index ?? 0];
  useEffect(() => onRange?.(first, last), [first, last, onRange]);
  const before = height === undefined ? 0 : (virtual.getVirtualItems()[0]?.start ?? 0);
  const after = height === undefined ? 0 : virtual.getTotalSize() - (virtual.getVirtualItems().at(-1)?.end ?? 0);
  const byId = useMemo(() => new Map(columns.map((column) => [column.id, column])), [columns]);
  const toggle = (id: string): void => {
    const next = new Set(picked);
    if (!next.delete(id)) next.add(id);
    onPick?.(next);
  };
  const pickable = isGap ? rows.filter((row) => !isGap(row)) : rows;
  const allPicked = pickable.length > 0 && pickable.every((row) => picked?.has(rowId(row)));
  if (!rows.length && props.empty) return props.empty;
  const span = columns.length + (onPick ? 1 : 0);
  return (
    <div
      className="table-wrap"
      ref={scroller}
      style={height === undefined ? {} : { maxHeight: height }}
      tabIndex={height === undefined ? undefined : 0}
    >
      <table className="table" aria-label={label} aria-rowcount={rows.length}>
        <thead>
          {table.getHeaderGroups().map((group) => (
            <tr key={group.id}>
              {onPick && (
                <th className="pick">
                  <input
                    type="checkbox"
                    aria-label="Select all shown"
                    checked={allPicked}
                    onChange={() => onPick(allPicked ? new Set() : new Set(pickable.map(rowId)))}
                  />
                </th>
              )}
              {group.headers.map((header) => (
                <Head
                  key={header.id}
                  column={byId.get(header.column.id)!}
                  {...(props.sort ? { sort: props.sort } : {})}
                  {...(props.onSort ? { onSort: props.onSort } : {})}
                />
              ))}
            </tr>
          ))}
        </thead>
        <tbody onMouseLeave={() => props.onHover?.(null)}>
          {before > 0 && (
            <tr aria-hidden>
              <td colSpan={span} style={{ height: before, padding: 0 }} />
            </tr>
          )}
          {items.map(({ index }) => {
            const row = model[index]!;
            const isPicked = picked?.has(row.id) ?? false;
            return (
              <tr
                key={row.id}
                data-row={row.id}
                className={isPicked || props.lit === row.id ? "selected" : ""}
                onMouseEnter={() => props.onHover?.(row.id)}
              >
                {onPick && (
                  <td className="pick">
                    <input
                      type="checkbox"
                      aria-label={`Select ${row.id}`}
                      checked={isPicked}
                      onChange={() => toggle(row.id)}
                    />
                  </td>
                )}
                {row.getVisibleCells().map((cell) => (
                  <td key={cell.id} className={byId.get(cell.column.id)?.numeric ? "num" : ""}>
                    <table.FlexRender cell={cell} />
                  </td>
                ))}
              </tr>
            );
          })}
          {after > 0 && (
            <tr aria-hidden>
              <td colSpan={span} style={{ height: after, padding: 0 }} />
            </tr>
          )}
        </tbody>
      </table>
    </div>
  );
}

function Head<T, S extends string>({
  column,
  sort,
  onSort,
}: {
  column: Column<T, S>;
  sort?: Sort<S>;
  onSort?: (sort: Sort<S>) => void;
}): ReactNode {
  const active = !!column.sort && sort?.by === column.sort;
  const style = column.width ? { width: column.width } : {};
  const order = active ? (sort.descending ? "descending" : "ascending") : undefined;
  return (
    <th className={column.numeric ? "num" : ""} style={style} aria-sort={order}>
      {column.sort && onSort ? (
        <button
          type="button"
          onClick={() => onSort({ by: column.sort!, descending: active ? !sort.descending : !!column.numeric })}
        >
          {column.title}
          {active && <Icon name={sort.descending ? "down" : "up"} size={12} />}
        </button>
      ) : (
        column.title
      )}
    </th>
  );
}
