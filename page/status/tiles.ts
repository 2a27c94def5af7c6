/** The tiles with figures of the service. */
import {element, place, shape} from "../element.ts";
import {writeBytes, writeMilliseconds, writeNumber, writeSeconds, writeWhole} from "../figureText.ts";
import type {History} from "./history.ts";
import type {Scrape} from "./scrape.ts";

interface Tile {
  readonly label: string;
  readonly value: string;
  readonly note: string;
  readonly isBad?: boolean;
  /** Drawn as a line, oldest first. */
  readonly line?: readonly number[];
}

const DURATION = "proofd_request_duration_seconds";
const UNKNOWN = "–";
/** Fewer points would suggest a trend where there is none. */
const LEAST_POINTS = 8;

export function showTiles(scrape: Scrape, history: History): void {
  const tiles = [
    describeNewest(scrape),
    describeFinalized(scrape),
    describeAge(scrape),
    describeSource(scrape),
    describeRate(history),
    describeLatency(history),
    describeQueues(scrape),
    describeStorage(scrape),
  ];
  place("tiles").replaceChildren(...tiles.map(drawTile));
}

function drawTile({label, value, note, isBad = false, line = []}: Tile): HTMLElement {
  return element(
    "div",
    {class: isBad ? "tile bad" : "tile"},
    element("dt", {}, label),
    element("dd", {class: "value"}, value),
    element("dd", {class: "note"}, note),
    ...(line.length < LEAST_POINTS
      ? []
      : [element("dd", {class: "line", "aria-hidden": "true"}, drawLine(line))]),
  );
}

function describeNewest(scrape: Scrape): Tile {
  const head = scrape.by("proofd_head_block", "which");
  const [latest, earliest] = [head.get("latest"), head.get("earliest")];
  const note = earliest === undefined ? "no blocks yet" : `oldest: ${writeWhole(earliest)}`;
  return {label: "Newest block", value: latest === undefined ? UNKNOWN : writeWhole(latest), note};
}

function describeFinalized(scrape: Scrape): Tile {
  const head = scrape.by("proofd_head_block", "which");
  const [latest, finalized] = [head.get("latest") ?? 0, head.get("finalized")];
  const state = scrape.state("proofd_finality_state", "state");
  const distance = latest - (finalized ?? 0);
  const place = distance === 0 ? "the newest block" : `${writeWhole(distance)} behind the newest`;
  return {
    label: "Finalized block",
    value: finalized === undefined ? UNKNOWN : writeWhole(finalized),
    note:
      finalized === undefined
        ? "nothing can be proved yet"
        : state === undefined
          ? place
          : `${place}, ${state}`,
    isBad: finalized === undefined || state === "stopped",
  };
}

function describeAge(scrape: Scrape): Tile {
  const timestamp = scrape.sum("proofd_head_timestamp_seconds");
  const label = "Age of the newest block";
  if (timestamp === undefined) return {label, value: UNKNOWN, note: "it has no timestamp"};
  const note = `${new Date(timestamp * 1000).toISOString().slice(0, 19).replace("T", " ")} UTC`;
  return {label, value: writeSeconds(Date.now() / 1000 - timestamp), note};
}

function describeSource(scrape: Scrape): Tile {
  const state = scrape.state("proofd_source_state", "state");
  const label = "Source of blocks";
  if (state === undefined) return {label, value: "none", note: "serves the store as it is"};
  const chosen = scrape.state("proofd_source_chosen", "source");
  const target = scrape.sum("proofd_source_target_block");
  const note = [chosen, target === undefined ? undefined : `on the way to ${writeWhole(target)}`];
  return {
    label,
    value: state,
    note: note.filter(part => part !== undefined).join(", "),
    isBad: state === "failed" || state === "behind",
  };
}

function describeRate(history: History): Tile {
  const line = history.callRates();
  const label = "Calls per second";
  if (line.length === 0) return {label, value: UNKNOWN, note: "measuring", line};
  const mean = line.reduce((sum, rate) => sum + rate, 0) / line.length;
  const note = `mean ${writeNumber(mean)} in ${writeSeconds(history.seconds)}`;
  return {label, value: writeNumber(line.at(-1) as number), note, line};
}

function describeLatency(history: History): Tile {
  const [half, most] = history.quantiles(DURATION, [0.5, 0.99]);
  const label = "Latency, p50";
  if (half === undefined || most === undefined) return {label, value: UNKNOWN, note: "no request yet"};
  return {label, value: writeMilliseconds(half), note: `p99 ${writeMilliseconds(most)}`};
}

function describeQueues(scrape: Scrape): Tile {
  const costs = [...scrape.by("proofd_queued_cost", "lane")].map(
    ([lane, cost]) => `${lane} ${writeWhole(cost)}`,
  );
  return {
    label: "Cost in queues",
    value: writeWhole(scrape.sum("proofd_queued_cost") ?? 0),
    note: costs.join(", "),
  };
}

function describeStorage(scrape: Scrape): Tile {
  const bytes = scrape.sum("proofd_store_bytes");
  const memory = `memory ${writeBytes(scrape.sum("process_resident_memory_bytes") ?? 0)}`;
  return {label: "Store on disk", value: bytes === undefined ? UNKNOWN : writeBytes(bytes), note: memory};
}

const LINE = {width: 120, height: 28};

function drawLine(values: readonly number[]): SVGElement {
  const highest = Math.max(...values, 1e-9);
  const points = values.map((value, i) => {
    const x = (LINE.width * i) / Math.max(values.length - 1, 1);
    return `${x.toFixed(1)},${(LINE.height - 2 - ((LINE.height - 4) * value) / highest).toFixed(1)}`;
  });
  const box = `0 0 ${LINE.width} ${LINE.height}`;
  return shape(
    "svg",
    {viewBox: box, preserveAspectRatio: "none"},
    shape("polyline", {points: points.join(" ")}),
  );
}
