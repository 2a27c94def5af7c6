/** A stage, which a *.bench.ts file creates for a store: tinybench tasks and other figures. */
import type {BenchStore} from "./benchStore.ts";

export interface BenchTask {
  readonly name: string;
  /**
   * Units of work in a `run`; results are per unit. Enough that the clock's resolution (0.1 us) does not matter, but
   * few enough that a run takes less than half a millisecond: on a busy machine, longer runs would be interrupted more
   * often than not.
   */
  readonly units: number;
  /** Must be an `async` function if it returns a promise: tinybench calls other functions once to find out. */
  readonly run: () => unknown;
  /** Not timed. */
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
  /** Called after the tasks were measured. */
  readonly figures?: () => readonly StageFigure[];
}

export type CreateStage = (store: BenchStore) => Stage | Promise<Stage>;

/** Maps `i` to 0 .. count - 1, with neighbours far apart. Deterministic. */
export function spread(i: number, count: number): number {
  return (i * 7919) % count;
}

/** A task that cycles through `all`. @param units - units of work in each */
export function cycleOf<One>(
  name: string,
  units: number,
  all: readonly One[],
  work: (one: One) => unknown,
): BenchTask {
  let round = 0;
  return {name, units, run: () => work(all[round++ % all.length] as One)};
}

/** The same, after going through all once. */
export function taskOf<One>(...asked: Parameters<typeof cycleOf<One>>): BenchTask {
  const [, , all, work] = asked;
  return {...cycleOf(...asked), hooks: {beforeAll: () => all.forEach(work)}};
}
