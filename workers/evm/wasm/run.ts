/** The run of a message: how it ended, and what is known of the gas that it needs. */
import {RUNNING} from "./layout";

export let endKind: u32 = RUNNING;
export let gasLeft: i64 = 0;
/** The least gas with which the same happens, if `isSensitive` is not set. */
export let leastGas: i64 = 0;
/** True once something depended on the gas that was left, beyond there being enough. */
export let isSensitive: bool = false;
/** True once a call or creation was given 63/64 of what was left: with less it may fail, and the run may still succeed. */
export let isBounded: bool = false;

export function beginRun(): void {
  endKind = RUNNING;
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
