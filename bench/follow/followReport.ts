/** The results of the stage `follow`: figures to keep, and tables that a document can quote. */
import type {NodeSourceName} from "../../workers/job/importSource.ts";
import {Table, writeNumber} from "../program/table.ts";
import type {Figure} from "../stages/benchRun.ts";
import type {Arrivals} from "./arrival.ts";
import type {CatchUp} from "./catchUp.ts";
import {TRANSACTIONS_PER_BLOCK} from "./chainNode.ts";

/** What is told at once. */
export interface FollowPart {
  readonly figures: readonly Omit<Figure, "suite" | "stage">[];
  readonly text: string;
}

const CATCH_UPS = new Table([8, 8, 14, 25, 27, 16], 1);
const ARRIVALS = new Table([60, 7, 9, 9, 15, 12, 20], 1);
/** The time until a new block's proof is there. */
const BLOCK_GOAL_MS = 250;
/** One poll finds the event. The rest is for reading and recording it. */
const FINALITY_GOAL_POLLS = 1.05;

export const ARRIVAL_HEADING: FollowPart = {
  figures: [],
  text: ARRIVALS.writeHeading([
    "time",
    "samples",
    "median ms",
    "p99 ms",
    "median in polls",
    "p99 in polls",
    "goal of p99",
  ]),
};

export const CATCH_UP_HEADING: FollowPart = {
  figures: [],
  text:
    "\nThe node of trielogs is a program of this bench, so its share cannot be compared with that of a real node.\n\n" +
    CATCH_UPS.writeHeading([
      "source",
      "blocks/s",
      "transactions/s",
      "CPU of proofd, ms a block",
      "CPU of the node, ms a block",
      "the node's share",
    ]),
};

export function partOfCatchUp(source: NodeSourceName, {blocksPerSecond, cpu}: CatchUp): FollowPart {
  const transactionsPerSecond = blocksPerSecond * TRANSACTIONS_PER_BLOCK;
  const share = cpu === undefined ? undefined : (100 * cpu.node) / (cpu.own + cpu.node);
  const values = [blocksPerSecond, transactionsPerSecond, cpu?.own, cpu?.node];
  const cells = [...values.map(writeNumber), share === undefined ? "-" : `${writeNumber(share)} %`];
  return {
    figures: [
      figure(`${source}: catching up`, blocksPerSecond, "blocks per second"),
      figure(`${source}: transactions`, transactionsPerSecond, "per second"),
      ...(cpu === undefined || share === undefined
        ? []
        : [
            figure(`${source}: CPU of proofd`, cpu.own, "ms a block"),
            figure(`${source}: CPU of the node`, cpu.node, "ms a block"),
            figure(`${source}: the node's share of the CPU`, share, "percent"),
          ]),
    ],
    text: CATCH_UPS.writeRow([source, ...cells]),
  };
}

export function partOfBlocks(arrivals: Arrivals): FollowPart {
  const name = "from a block of the node to its proof";
  const goal = writeGoal(arrivals.p99 < BLOCK_GOAL_MS, `< ${BLOCK_GOAL_MS} ms`);
  return {figures: figuresOf(name, arrivals), text: writeArrivals(name, arrivals, ["", "", goal])};
}

/** @param pollMs - of layer 1 */
export function partOfFinality(arrivals: Arrivals, pollMs: number): FollowPart {
  const name = "from an event of layer 1 to the proof";
  const {median, p99} = arrivals;
  const goal = writeGoal(p99 / pollMs < FINALITY_GOAL_POLLS, `< ${FINALITY_GOAL_POLLS} polls`);
  const polls = [writeNumber(median / pollMs), writeNumber(p99 / pollMs), goal];
  return {
    figures: [
      ...figuresOf(name, arrivals),
      figure(`${name}, median`, median / pollMs, "polls"),
      figure(`${name}, p99`, p99 / pollMs, "polls"),
    ],
    text: writeArrivals(`${name}, polled every ${writeNumber(pollMs)} ms`, arrivals, polls),
  };
}

function figure(name: string, value: number, unit: string): FollowPart["figures"][number] {
  return {name, value, unit};
}

function figuresOf(name: string, {median, p99}: Arrivals): FollowPart["figures"] {
  return [figure(`${name}, median`, median, "ms"), figure(`${name}, p99`, p99, "ms")];
}

function writeArrivals(name: string, {count, median, p99}: Arrivals, rest: readonly string[]): string {
  return ARRIVALS.writeRow([name, `${count}`, writeNumber(median), writeNumber(p99), ...rest]);
}

function writeGoal(isMet: boolean, goal: string): string {
  return `${goal}: ${isMet ? "met" : "**missed**"}`;
}
