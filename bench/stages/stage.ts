/**
 * What a *.bench.ts file makes: the tinybench tasks of one stage of the work, on one store.
 */
import type {Figure, Result} from "./benchRun.ts";
import type {BenchStore} from "./benchStore.ts";

export interface BenchTask {
  /** Holds what is measured and its input. */
  readonly name: string;
  /**
   * What one call of `run` does so many of; the results are per unit. Enough that the clock (0.1 us) does not count, few
   * enough for half a millisecond: where others want the core too, longer runs are interrupted more often than not.
   */
  readonly units: number;
  /** An `async` function where it has to be waited for: tinybench starts any other one once, to see whether it has. */
  readonly run: () => unknown;
  readonly hooks?: Hooks;
}

/** What is done around runs, untimed. */
export interface Hooks {
  /** Before warm-up, and before what is measured. */
  readonly beforeAll?: () => void | Promise<void>;
  readonly beforeEach?: () => void | Promise<void>;
  readonly afterAll?: () => void | Promise<void>;
}

export interface Stage {
  readonly tasks: readonly BenchTask[];
  /** What follows from the stage's results besides times. */
  readonly figures?: (results: readonly Result[]) => readonly Omit<Figure, "suite" | "stage">[];
  readonly close?: () => Promise<void>;
}

export type CreateStage = (store: BenchStore) => Stage | Promise<Stage>;

/** Inputs that a task goes through, so that caches help as little as they would in use; making one may take long. */
export const INPUTS = 1 << 14;

/** `i` spread over 0 .. count-1: the same in every run, neighbours far apart. */
export function spread(i: number, count: number): number {
  return (i * 7919) % count;
}
