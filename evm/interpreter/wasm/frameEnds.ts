/** Ends frames. */
import {finishCall, finishGas, require, setAddress} from "./calling";
import {endCreation} from "./creations";
import * as Frame from "./frames";
import {current, FRAME_BYTES, setCurrent} from "./frames";
import {undoTo} from "./journal";
import {FRAMES, OUT_OF_GAS, PRECOMPILE_FAILED, RETURNED, REVERT, SUCCESS} from "./layout";
import {cutLogs} from "./logs";
import {clearReturned, returnedBytes, setReturned} from "./returned";
import {awaitPrecompile, endRun, setRefund} from "./run";
import {setWord} from "./words";

/** The host passes this if a precompile's price exceeds its gas, and other negative numbers if the input is invalid. */
const PRECOMPILE_OUT_OF_GAS: i64 = -2;

/** Continues after a precompile. @param gas - its price; negative: it failed. @returns true if the run has ended */
export function endAwaited(gas: i64): bool {
  awaitPrecompile(0, 0, 0);
  const frame = current;
  if (gas >= 0) {
    store<i64>(frame, load<i64>(frame, Frame.GAS) - gas, Frame.GAS);
    return endFrame(SUCCESS, RETURNED, returnedBytes);
  }
  return endFrame(gas == PRECOMPILE_OUT_OF_GAS ? OUT_OF_GAS : PRECOMPILE_FAILED, RETURNED, 0);
}

/** Ends the current frame. @param out - address of its output. @returns true if it was the lowest frame */
export function endFrame(end: u32, out: usize, bytes: u32): bool {
  const frame = current;
  let kind = end;
  if (kind == SUCCESS && load<u32>(frame, Frame.IS_CREATION) != 0) {
    kind = endCreation(frame, out, bytes);
    clearReturned();
  } else if (kind == SUCCESS || kind == REVERT) setReturned(out, bytes);
  else clearReturned();
  const left: i64 = kind == SUCCESS || kind == REVERT ? load<i64>(frame, Frame.GAS) : 0;
  if (kind != SUCCESS) {
    undoTo(load<u32>(frame, Frame.JOURNAL_MARK));
    cutLogs(load<u32>(frame, Frame.LOGS_MARK));
    setRefund(load<i64>(frame, Frame.REFUND_MARK));
  }
  const given = load<i64>(frame, Frame.START_GAS);
  require(frame, given - load<i64>(frame, Frame.GAS));
  const least = load<i64>(frame, Frame.REQUIRED);
  if (frame == FRAMES) {
    endRun(kind, left, least);
    return true;
  }
  const parent = frame - FRAME_BYTES;
  setCurrent(parent);
  if (load<u32>(frame, Frame.IS_CREATION) == 0) finishCall(parent, kind, given, left, least);
  else {
    const result = load<u32>(parent, Frame.SP) - 32;
    if (kind == SUCCESS) setAddress(result, load<u32>(frame, Frame.ACCOUNT));
    else setWord(result, 0);
    finishGas(parent, kind, given, left, least);
  }
  return false;
}
