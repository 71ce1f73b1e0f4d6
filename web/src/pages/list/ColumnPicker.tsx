import type { ReactNode } from "react";
import { Icon } from "../../ui/Icon";
import { Menu } from "../../ui/Menu";

interface Props {
  columns: readonly { id: string; name: string }[];
  hidden: Readonly<Record<string, boolean>>;
  onChange: (id: string, hidden: boolean) => void;
}

export function ColumnPicker({ columns, hidden, onChange }: Props): ReactNode {
  const groups: [string, (id: string) => boolean][] = [
    ["Columns", (id) => !id.includes(":")],
    ["Hyperparameters", (id) => id.startsWith("hp:")],
    ["Metrics of the best trial", (id) => id.startsWith("metric:")],
  ];
  return (
    <Menu
      label={
        <>
          <Icon name="columns" />
          Columns
        </>
      }
      keepOpen
    >
      {groups.map(([title, belongs]) => {
        const members = columns.filter((column) => belongs(column.id));
        if (!members.length) return null;
        return (
          <div key={title}>
            <div className="nav-title">{title}</div>
            {members.map((column) => (
              <label key={column.id} className="menu-item">
                <input
                  type="checkbox"
                  checked={!hidden[column.id]}
                  onChange={(event) => onChange(column.id, !event.target.checked)}
                />
                {column.name}
              </label>
            ))}
          </div>
        );
      })}
    </Menu>
  );
}
