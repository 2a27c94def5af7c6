/**
 * Draws a path of a proof from the root down to the leaf:
 *
 *        root
 *         |\
 *         | o      an empty sub-tree; consecutive ones are drawn close together
 *        /|
 *       * |        a sibling with a hash
 *         |
 *        leaf
 */
import {count} from "../../client/bytes/values.ts";
import {shape} from "../element.ts";
import {shorten} from "../figureText.ts";
import type {LeafPath, PathStep} from "./pathSteps.ts";

const WIDTH = 360;
const SPINE = WIDTH / 2;
const RIB = 52;
const EMPTY_ROW = 9;
const HASH_ROW = 30;
const TOP = 34;
const BOTTOM = 44;

/** @param leafName - caption of the leaf. @param expected - the root that the path must lead to */
export function drawPath({steps, root}: LeafPath, leafName: string, expected: string): SVGElement {
  const rows: SVGElement[] = [];
  let y = TOP;
  for (const run of divideRuns(steps)) {
    const [first] = run as [PathStep];
    const beginY = y;
    for (const step of run) {
      rows.push(...drawStep(step, y));
      y += step.isEmpty ? EMPTY_ROW : HASH_ROW;
    }
    rows.push(drawLabel(run, first, (beginY + y) / 2));
  }
  const height = y + BOTTOM;
  const filled = steps.filter(({isEmpty}) => !isEmpty).length;
  const isRight = root === expected;
  const top = isRight ? `root ${shorten(root)}` : `another root, ${shorten(root)}`;
  const summary = `Path from ${top} down to ${leafName}: ${count(filled, "sibling")} with a hash, ${count(steps.length - filled, "empty sub-tree")}`;
  return shape(
    "svg",
    {
      class: "path",
      viewBox: `0 0 ${WIDTH} ${height}`,
      width: WIDTH,
      height,
      role: "img",
      "aria-label": summary,
    },
    shape("text", {x: SPINE, y: 14, class: isRight ? "end" : "end wrong"}, top),
    ...rows,
    shape("circle", {class: "own", cx: SPINE, cy: TOP, r: 4.5}),
    shape("circle", {class: "own leaf", cx: SPINE, cy: y, r: 7}),
    shape("text", {x: SPINE, y: y + 28, class: "end"}, leafName),
  );
}

/** Consecutive empty siblings on one side form a run. A sibling with a hash is a run of its own. */
function divideRuns(steps: readonly PathStep[]): PathStep[][] {
  const runs: PathStep[][] = [];
  for (const step of steps) {
    const run = runs.at(-1);
    if (run !== undefined && step.isEmpty && run[0]?.isEmpty && run[0].side === step.side) run.push(step);
    else runs.push([step]);
  }
  return runs;
}

function drawStep({side, isEmpty}: PathStep, y: number): SVGElement[] {
  const below = y + (isEmpty ? EMPTY_ROW : HASH_ROW);
  const x = side === "left" ? SPINE - RIB : SPINE + RIB;
  return [
    shape("line", {class: "own", x1: SPINE, y1: y, x2: SPINE, y2: below}),
    shape("line", {class: isEmpty ? "empty" : "sibling", x1: SPINE, y1: y, x2: x, y2: below}),
    shape("circle", {class: isEmpty ? "empty" : "sibling", cx: x, cy: below, r: isEmpty ? 2.5 : 5}),
  ];
}

function drawLabel(
  run: readonly PathStep[],
  {side, isEmpty, height, sibling}: PathStep,
  y: number,
): SVGElement {
  const isLeft = side === "left";
  const x = isLeft ? SPINE - RIB - 12 : SPINE + RIB + 12;
  const anchor = isLeft ? "end" : "start";
  const text = isEmpty ? `${run.length} empty` : shorten(sibling);
  const last = height - run.length + 1;
  const heights = run.length === 1 ? `height ${height}` : `heights ${height} to ${last}`;
  return shape(
    "g",
    {},
    shape(
      "text",
      {
        x,
        y: isEmpty ? y + 8 : y + HASH_ROW / 2 + 4,
        "text-anchor": anchor,
        class: isEmpty ? "faint" : "hash",
      },
      text,
    ),
    shape("title", {}, `${heights}: ${isEmpty ? "empty sub-trees" : sibling}`),
  );
}
