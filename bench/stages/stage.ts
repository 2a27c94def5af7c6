/**
 * What a *.bench.ts file creates: the tinybench tasks of one stage, on one store.
 */
import type {Result, StageFigure} from "./benchRun.ts";
import type {BenchStore} from "./benchStore.ts";

export interface BenchTask {
  /** Says what is measured, and with which input. */
  readonly name: string;
  /**
   * How many units one call of `run` does; results are per unit. There must be enough that the clock's step (0.1 us) does not
   * matter, and few enough that a run takes less than half a millisecond: if other processes want the core too, longer runs
   * are interrupted more often than not.
   */
  readonly units: number;
  /** Must be an `async` function if it returns a promise. tinybench first runs any other function once to find that out. */
  readonly run: () => unknown;
  readonly hooks?: Hooks;
}

/** Untimed work around the runs. */
export interface Hooks {
  /** Runs before the warm-up, and again before the measured runs. */
  readonly beforeAll?: () => void | Promise<void>;
  readonly beforeEach?: () => void | Promise<void>;
  readonly afterAll?: () => void | Promise<void>;
}

export interface Stage {
  readonly tasks: readonly BenchTask[];
  /** Other figures that follow from the stage's results. */
  readonly figures?: (results: readonly Result[]) => readonly StageFigure[];
  readonly close?: () => Promise<void>;
}

export type CreateStage = (store: BenchStore) => Stage | Promise<Stage>;

/** Spreads `i` over 0 .. count-1, with neighbours far apart. The same in every run. */
export function spread(i: number, count: number): number {
  return (i * 7919) % count;
}

/** A task that works on the next one each time, and once on all of them before it is measured. @param units - of each */
export function taskOf<One>(
  name: string,
  units: number,
  all: readonly One[],
  work: (one: One) => unknown,
): BenchTask {
  let round = 0;
  const run = () => work(all[round++ % all.length] as One);
  return {name, units, run, hooks: {beforeAll: () => all.forEach(work)}};
}
