/** What a *.bench.ts file creates: the tinybench tasks of one stage, on one store. */
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
  /** Untimed work around the runs. */
  readonly hooks?: {
    /** Runs before the warm-up, and again before the measured runs. */
    readonly beforeAll?: () => void | Promise<void>;
    readonly beforeEach?: () => void | Promise<void>;
    readonly afterAll?: () => void | Promise<void>;
  };
}

/** A figure that is not a time per unit of a task: bytes, ratios. */
export interface StageFigure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
}

export interface Stage {
  readonly tasks: readonly BenchTask[];
  /** Called when the tasks are measured. */
  readonly figures?: () => readonly StageFigure[];
}

export type CreateStage = (store: BenchStore) => Stage | Promise<Stage>;

/** Spreads `i` over 0 .. count-1, with neighbours far apart. The same in every run. */
export function spread(i: number, count: number): number {
  return (i * 7919) % count;
}

/** @returns what gives all of them in turn, again and again */
export function nextOf<One>(all: readonly One[]): () => One {
  let round = 0;
  return () => all[round++ % all.length] as One;
}

/** A task that works on the next one each time, and once on all of them before it is measured. @param units - of each */
export function taskOf<One>(
  name: string,
  units: number,
  all: readonly One[],
  work: (one: One) => unknown,
): BenchTask {
  const next = nextOf(all);
  return {name, units, run: () => work(next()), hooks: {beforeAll: () => all.forEach(work)}};
}
