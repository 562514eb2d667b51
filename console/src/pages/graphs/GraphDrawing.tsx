import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import type { Tone } from "../../parts/tones";
import { GraphMap } from "./GraphMap";
import { areaOf, BOX, layOut, neighbour, type PlacedEdge, type PlacedStep, touch } from "./layout";
import { followersOf, type LinkedStep } from "./structure";
import { useViewport } from "./useViewport";
import "./graphs.css";

/** What the drawing says about a step. `detail` stands below its name, `mark` at its end. */
export interface StepFace {
  tone: Tone;
  detail: string;
  mark?: string;
}

/**
 * A graph from left to right. It is laid out once for each structure, and only what is visible is rendered, so a
 * thousand steps cost as much as a screenful. One step takes part in the tab order; arrow keys lead to the others.
 */
export function GraphDrawing({
  structure,
  steps,
  faceOf,
  path,
  chosen,
  first,
  handed,
  onChoose,
}: GraphDrawingProps) {
  const { t } = useTranslation("graphs");
  // biome-ignore lint/correctness/useExhaustiveDependencies: what a run needs never changes, its states do
  const layout = useMemo(() => layOut(steps), [structure]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: as above
  const followers = useMemo(() => followersOf(steps), [structure]);
  const placed = useMemo(() => new Map(layout.steps.map((step) => [step.name, step])), [layout]);
  const byName = useMemo(() => new Map(steps.map((step) => [step.name, step])), [steps]);
  const { ref, area, onScroll, show } = useViewport();
  const [entry, setEntry] = useState<string>();
  const entered =
    entry !== undefined && placed.has(entry) ? entry : (chosen ?? first ?? layout.steps[0]?.name);
  const focusing = useRef(false);

  useEffect(() => {
    const wanted = placed.get(chosen ?? first ?? "");
    if (wanted) show(areaOf(wanted));
  }, [chosen, first, placed, show]);
  useEffect(() => {
    if (!focusing.current || entered === undefined) return;
    focusing.current = false;
    ref.current
      ?.querySelector<HTMLElement>(`[data-step="${CSS.escape(entered)}"]`)
      ?.focus({ preventScroll: true });
  });

  const onKeyDown = (event: KeyboardEvent) => {
    const step = placed.get(entered ?? "");
    if (!step || event.altKey || event.ctrlKey || event.metaKey) return;
    const linked = { needs: byName.get(step.name)?.needs ?? [], followers: followers.get(step.name) ?? [] };
    const next = placed.get(neighbour(layout, step, event.key, linked) ?? "");
    if (!next) return;
    event.preventDefault();
    focusing.current = true;
    setEntry(next.name);
    show(areaOf(next));
  };
  const visible = layout.steps.filter((step) => step.name === entered || touch(areaOf(step), area));
  const source = placed.get(chosen ?? "");
  return (
    <>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields */}
      <div
        className="graph"
        ref={ref}
        onScroll={onScroll}
        onKeyDown={onKeyDown}
        role="group"
        aria-label={t("drawing.label")}
      >
        <div className="graph-ground" style={{ width: layout.width, height: layout.height }}>
          <Edges
            edges={layout.edges.filter((edge) => touch(edge.area, area))}
            path={path}
            chosen={chosen}
            width={layout.width}
            height={layout.height}
          />
          {visible.map((step) => (
            <StepBox
              key={step.name}
              step={step}
              face={faceOf(step.name)}
              chosen={step.name === chosen}
              entered={step.name === entered}
              onChoose={() => {
                setEntry(step.name);
                onChoose(step.name === chosen ? undefined : step.name);
              }}
            />
          ))}
          {source && handed && (
            <span
              className="graph-handed"
              title={handed}
              style={{
                left: source.x + BOX.width + 4,
                top: source.y + BOX.height / 2 - 10,
                width: BOX.gapX - 10,
              }}
            >
              {handed}
            </span>
          )}
        </div>
      </div>
      <GraphMap layout={layout} toneOf={(name) => faceOf(name).tone} area={area} onShow={show} />
    </>
  );
}

function StepBox({ step, face, chosen, entered, onChoose }: StepBoxProps) {
  return (
    <button
      type="button"
      className={`graph-step tone-${face.tone}${chosen ? " chosen" : ""}`}
      data-step={step.name}
      tabIndex={entered ? 0 : -1}
      aria-pressed={chosen}
      title={`${step.name}\n${face.detail}`}
      style={{ left: step.x, top: step.y, width: BOX.width, height: BOX.height }}
      onClick={onChoose}
    >
      <span className="graph-name">{step.name}</span>{" "}
      <span className="graph-detail">
        <span>{face.detail}</span> {face.mark && <span className="graph-mark">{face.mark}</span>}
      </span>
    </button>
  );
}

/** All visible edges as three lines: those of the critical path and those of the chosen step stand out. */
function Edges({ edges, path, chosen, width, height }: EdgesProps) {
  const { critical, linked, others } = useMemo(() => sorted(edges, path, chosen), [edges, path, chosen]);
  return (
    <svg width={width} height={height} aria-hidden="true">
      <path className="graph-edge" d={others} />
      <path className="graph-edge linked" d={linked} />
      <path className="graph-edge critical" d={critical} />
    </svg>
  );
}

function sorted(edges: readonly PlacedEdge[], path: readonly string[], chosen: string | undefined) {
  const places = new Map(path.map((name, place) => [name, place]));
  const isCritical = (edge: PlacedEdge) =>
    (places.get(edge.to) ?? 0) - (places.get(edge.from) ?? 0) === 1 && places.has(edge.from);
  const isLinked = (edge: PlacedEdge) => edge.from === chosen || edge.to === chosen;
  const lineOf = (fits: (edge: PlacedEdge) => boolean) =>
    edges
      .filter(fits)
      .map((edge) => edge.path)
      .join("");
  return {
    critical: lineOf(isCritical),
    linked: lineOf((edge) => isLinked(edge) && !isCritical(edge)),
    others: lineOf((edge) => !isLinked(edge) && !isCritical(edge)),
  };
}

interface GraphDrawingProps {
  /** What names the structure: it is laid out anew when this changes. */
  structure: string;
  steps: LinkedStep[];
  faceOf: (name: string) => StepFace;
  /** The critical path. */
  path: readonly string[];
  chosen: string | undefined;
  /** The step that is shown first if none is chosen. */
  first?: string | undefined;
  /** The result of the chosen step, which its edges hand on. */
  handed?: string | undefined;
  onChoose: (name: string | undefined) => void;
}

interface StepBoxProps {
  step: PlacedStep;
  face: StepFace;
  chosen: boolean;
  entered: boolean;
  onChoose: () => void;
}

interface EdgesProps {
  edges: PlacedEdge[];
  path: readonly string[];
  chosen: string | undefined;
  width: number;
  height: number;
}
