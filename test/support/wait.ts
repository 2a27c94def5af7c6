/**
 * Waits of tests. One that is not over in time fails with what it waited for, before the runner kills the file without a word.
 *
 *   within      for something that ends by itself
 *   waitUntil   for something that has to be looked at again and again
 */
import {type EventEmitter, once as onceOf} from "node:events";
import {setImmediate} from "node:timers/promises";
import {Patience} from "./patience.ts";

/** Time between two looks at something that takes a while. */
export const LOOK_MS = 20;

/** Shorter than the runner's limit for a file. */
const BOUND_MS = 200_000;

/** Looks one after the other, before it is worth to pause between them. */
const QUICK_LOOKS = 100;

// A test may take over the clock.
const {setTimeout: startTimer} = globalThis;

function pause(ms: number): Promise<void> {
  return new Promise(resolve => {
    startTimer(resolve, ms);
  });
}

/** @param what - "an answer". @throws Error if the work does not end in time */
export async function within<Result>(what: string, work: PromiseLike<Result>): Promise<Result> {
  let patience: Patience | undefined;
  const late = new Promise<never>((_, reject) => {
    patience = new Patience(BOUND_MS, () => reject(new Error(`waited ${BOUND_MS / 1000} s for ${what}`)));
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    patience?.stop();
  }
}

/**
 * Looks until it is there.
 *
 * @param what - "block 5 to be final"
 * @param next - resolves when it is time to look again; default: at once, and after some looks every LOOK_MS
 * @throws Error if it is not there in time
 */
export async function waitUntil(
  what: string,
  isThere: () => boolean | Promise<boolean>,
  next?: () => Promise<unknown>,
): Promise<void> {
  let isOver = false;
  const look = async (): Promise<void> => {
    for (let looks = 0; !isOver && !(await isThere()); looks++)
      if (next !== undefined) await next();
      else if (looks < QUICK_LOOKS) await setImmediate();
      else await pause(LOOK_MS);
  };
  try {
    await within(what, look());
  } finally {
    isOver = true;
  }
}

/** `events.once`, in time: for an event that the caller awaits at once. */
// biome-ignore lint/suspicious/noExplicitAny: as events.once, whose values are those of the event
export function once(emitter: EventEmitter, name: string): Promise<any[]> {
  return within(`"${name}" of a ${emitter.constructor.name}`, onceOf(emitter, name));
}
