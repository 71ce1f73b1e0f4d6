/** ECharts with only the parts we draw, behind one component. Imported lazily: first pages do not pay for it. */
import { HeatmapChart, ParallelChart, ScatterChart } from "echarts/charts";
import { GridComponent, ParallelComponent, TooltipComponent, VisualMapComponent } from "echarts/components";
import { init, use as register, type EChartsCoreOption, type ECharts } from "echarts/core";
import { CanvasRenderer } from "echarts/renderers";
import { useEffect, useEffectEvent, useRef, type ReactNode } from "react";

register([
  HeatmapChart,
  ParallelChart,
  ScatterChart,
  GridComponent,
  ParallelComponent,
  TooltipComponent,
  VisualMapComponent,
  CanvasRenderer,
]);

interface Props {
  option: EChartsCoreOption;
  height: number;
  label: string;
  on?: Record<string, (event: unknown, chart: ECharts) => void>;
}

export function EChart({ option, height, label, on }: Props): ReactNode {
  const host = useRef<HTMLDivElement>(null);
  const chart = useRef<ECharts | null>(null);
  const answer = useEffectEvent((name: string, event: unknown, instance: ECharts) => on?.[name]?.(event, instance));
  const names = Object.keys(on ?? {}).join();
  useEffect(() => {
    const instance = init(host.current!);
    chart.current = instance;
    for (const name of names.split(",").filter(Boolean))
      instance.on(name, (event: unknown) => answer(name, event, instance));
    const resize = new ResizeObserver(() => instance.resize());
    resize.observe(host.current!);
    return () => {
      resize.disconnect();
      instance.dispose();
    };
  }, [names]);
  useEffect(
    () =>
      chart.current?.setOption(
        { animation: false, textStyle: { fontFamily: "Inter Variable, system-ui, sans-serif" }, ...option },
        { notMerge: true },
      ),
    [option, names],
  );
  return <div ref={host} role="img" aria-label={label} style={{ height, width: "100%" }} />;
}
