/** One picture as large as the window allows, with its boxes; arrow keys go on. */
import { useEffect, useState, type ReactNode } from "react";
import type { Picture } from "../../api/picture";
import { Dialog } from "../../ui/Dialog";
import { Icon } from "../../ui/Icon";
import { ErrorNote } from "../../ui/parts";
import { Boxes, type DrawnBox } from "./Boxes";

interface Props {
  title: string;
  note: string;
  picture: Picture;
  width: number;
  height: number;
  boxes: readonly DrawnBox[];
  onClose: () => void;
  onBack?: () => void;
  onNext?: () => void;
}

export function ImageView({ title, note, picture, width, height, boxes, onClose, onBack, onNext }: Props): ReactNode {
  const [named, setNamed] = useState(boxes.length <= 60);
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      if (event.key === "ArrowLeft") onBack?.();
      if (event.key === "ArrowRight") onNext?.();
    };
    window.addEventListener("keydown", listen);
    return () => window.removeEventListener("keydown", listen);
  }, [onBack, onNext]);
  return (
    <Dialog
      wide
      title={title}
      onClose={onClose}
      footer={
        <>
          <span className="muted grow">{note}</span>
          <label className="check">
            <input type="checkbox" checked={named} onChange={(event) => setNamed(event.target.checked)} />
            Names
          </label>
          <button className="btn icon" aria-label="Previous picture" disabled={!onBack} onClick={onBack}>
            <Icon name="left" />
          </button>
          <button className="btn icon" aria-label="Next picture" disabled={!onNext} onClick={onNext}>
            <Icon name="right" />
          </button>
          <button className="btn primary" onClick={onClose}>
            Close
          </button>
        </>
      }
    >
      <ErrorNote error={picture.error} />
      <div className="image-large">
        <Boxes width={width} height={height} boxes={boxes} thin={!named}>
          {picture.url && <image href={picture.url} width={width} height={height} preserveAspectRatio="none" />}
        </Boxes>
      </div>
    </Dialog>
  );
}
