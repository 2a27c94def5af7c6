/**
 * The logs of the transaction.
 *
 *   log     number of topics u32, length of data u32, address 20, topics 32 each, data, padding to a multiple of 8
 */
import * as Account from "./accounts";
import {hostDecline} from "./host";
import {DECLINE_LOGS, LOGS, RETURNED} from "./layout";
import {storeAddress, storeBytes} from "./words";

const HEAD_BYTES: usize = 28;

let top: usize = LOGS;

export function logsMark(): usize {
  return top;
}

export function cutLogs(mark: usize): void {
  top = mark;
}

/** @param topics - address of the first topic on the stack; the next ones are below it */
export function addLog(account: usize, topics: usize, count: usize, data: usize, bytes: u32): void {
  const end = <u64>top + HEAD_BYTES + 32 * count + bytes + 7;
  if (end > RETURNED) hostDecline(DECLINE_LOGS);
  store<u32>(top, <u32>count);
  store<u32>(top, bytes, 4);
  storeAddress(top + 8, account + Account.ADDRESS);
  let at = top + HEAD_BYTES;
  for (let topic: usize = 0; topic < count; topic++) {
    storeBytes(at, topics - 32 * topic);
    at += 32;
  }
  memory.copy(at, data, bytes);
  top = (at + bytes + 7) & ~7;
}
