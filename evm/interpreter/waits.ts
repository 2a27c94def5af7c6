/**
 * Work that may wait for promises between its steps. Its functions are generators, not async: the promises of ten nested
 * functions took a quarter of the time of a short call, which never waits. Only named functions: each new closure that is
 * a generator has a prototype of its own, which V8 makes and looks up slowly.
 */
export type Waits<T> = Generator<Promise<void> | undefined, T, void>;

/** Does the work, at once if it does not wait. */
export async function finish<T>(work: Waits<T>): Promise<T> {
  let step = work.next();
  while (step.done !== true) {
    try {
      await step.value;
    } catch (error) {
      step = work.throw(error);
      continue;
    }
    step = work.next();
  }
  return step.value;
}
