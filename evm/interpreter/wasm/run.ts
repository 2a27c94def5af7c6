/** The run of a message: how it ended, its gas and refunds, and the precompile that it waits for. */
import {RUNNING} from "./layout";

export let endKind: u32 = RUNNING;
export let gasLeft: i64 = 0;
/** The least gas with which the run would be the same, unless `isSensitive`. */
export let leastGas: i64 = 0;
/** True once the run depended on its gas in another way than running out. */
export let isSensitive: bool = false;
/** True once a call or creation needed gas: with less, it would fail, but the run may still succeed. */
export let isBounded: bool = false;

/** The refund counter of the transaction. */
export let refund: i64 = 0;

/** Address of the precompile that the host runs now; 0: none. Its gas is that of the current frame. */
export let awaited: u32 = 0;
export let awaitedInput: usize = 0;
export let awaitedBytes: u32 = 0;

/** Additional steps of calls and creations. */
let work: i32 = 0;

export function setRefund(gas: i64): void {
  refund = gas;
}

export function awaitPrecompile(address: u32, input: usize, bytes: u32): void {
  awaited = address;
  awaitedInput = input;
  awaitedBytes = bytes;
}

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
