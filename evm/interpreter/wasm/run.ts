/** The run of a message: how it ended, and how much gas it needs. */
import {RUNNING} from "./layout";

export let endKind: u32 = RUNNING;
export let gasLeft: i64 = 0;
/** The least gas with which the run would be the same, unless `isSensitive`. */
export let leastGas: i64 = 0;
/** True once the run depended on its gas in another way than running out. */
export let isSensitive: bool = false;
/** True once a call or creation needed gas: with less, it would fail, but the run may still succeed. */
export let isBounded: bool = false;

/** Additional steps of calls and creations. */
let work: i32 = 0;

export function addWork(steps: i64): void {
  work += <i32>steps;
}

export function takeWork(): i32 {
  const steps = work;
  work = 0;
  return steps;
}

export function beginRun(): void {
  endKind = RUNNING;
  work = 0;
  isSensitive = false;
  isBounded = false;
}

export function endRun(end: u32, left: i64, least: i64): void {
  endKind = end;
  gasLeft = left;
  leastGas = least;
}

export function noteSensitive(): void {
  isSensitive = true;
}

export function noteBounded(): void {
  isBounded = true;
}
