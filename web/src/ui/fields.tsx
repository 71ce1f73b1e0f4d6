/** Labelled inputs that take their value and their change from `useForm`, or from anything else of that shape. */
import type { InputHTMLAttributes, ReactNode } from "react";
import type { Field } from "./useForm";

type Rest = Omit<InputHTMLAttributes<HTMLInputElement>, "value" | "onChange">;
type TextProps = Rest & Field<string> & { label: ReactNode };

export function TextField({ label, value, onChange, className = "", ...rest }: TextProps): ReactNode {
  return (
    <label className="field">
      <span className="label">{label}</span>
      <input
        {...rest}
        className={`input ${className}`}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    </label>
  );
}

export function NumberField({
  label,
  value,
  onChange,
  min = 0,
  ...rest
}: Rest & Field<number> & { label: ReactNode }): ReactNode {
  return (
    <label className="field">
      <span className="label">{label}</span>
      <input
        {...rest}
        className="input"
        type="number"
        min={min}
        value={value}
        onChange={(event) => onChange(event.target.valueAsNumber || 0)}
      />
    </label>
  );
}

export function CheckField({ value, onChange, children }: Field<boolean> & { children: ReactNode }): ReactNode {
  return (
    <label className="check">
      <input type="checkbox" checked={value} onChange={(event) => onChange(event.target.checked)} />
      {children}
    </label>
  );
}

interface SelectProps<V extends string | number> extends Field<V> {
  label: ReactNode;
  options: readonly (readonly [V, ReactNode])[];
  disabled?: boolean;
}

export function SelectField<V extends string | number>(props: SelectProps<V>): ReactNode {
  const { label, value, onChange, options, disabled = false } = props;
  return (
    <label className="field">
      <span className="label">{label}</span>
      <select
        className="select"
        value={value}
        disabled={disabled}
        onChange={(event) => {
          const chosen = options.find(([key]) => String(key) === event.target.value);
          if (chosen) onChange(chosen[0]);
        }}
      >
        {options.map(([key, word]) => (
          <option key={key} value={key}>
            {word}
          </option>
        ))}
      </select>
    </label>
  );
}
