/** The run of a message: how it ended, and what is known of the gas that it needs. */
import {RUNNING} from "./layout";

export let endKind: u32 = RUNNING;
export let gasLeft: i64 = 0;
/** The least gas with which the same happens, if `isSensitive` is not set. */
export let leastGas: i64 = 0;
/** True once something depended on the gas that was left, beyond there being enough. */
export let isSensitive: bool = false;
/** True once a call or creation needed gas: with less it may fail, and the run may still succeed. */
export let isBounded: bool = false;

/** Steps that calls and creations take beyond those of their opcodes. */
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
