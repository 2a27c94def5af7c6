/** The return data of the last call of the current frame. */
import {hostDecline} from "./host";
import {CODES, DECLINE_RETURNED, RETURNED} from "./layout";

export let returnedBytes: u32 = 0;

export function clearReturned(): void {
  returnedBytes = 0;
}

/** @returns where to write the bytes */
export function reserveReturned(bytes: u32): usize {
  if (bytes > <u32>(CODES - RETURNED)) hostDecline(DECLINE_RETURNED);
  returnedBytes = bytes;
  return RETURNED;
}

export function setReturned(from: usize, bytes: u32): void {
  memory.copy(reserveReturned(bytes), from, bytes);
}
