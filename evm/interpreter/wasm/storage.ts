/** SLOAD and SSTORE, and their gas (EIP-2200, EIP-2929, EIP-3529). */
import {readsUnpaid} from "./accounts";
import {require} from "./calling";
import * as Frame from "./frames";
import {setSlot, warmSlot} from "./journal";
import {OUT_OF_GAS, RUNNING, WRITE_PROTECTION} from "./layout";
import * as Params from "./params";
import {refund, setRefund} from "./run";
import * as Slot from "./slots";
import {keepOriginal, slotAt} from "./slots";
import {isZero, sameWord} from "./words";

/** @param gas - gas of the frame. @returns RUNNING, with the gas left stored in the frame; or how the frame ends */
export function writeSlot(frame: usize, key: usize, value: usize, before: i64): u32 {
  if (load<u32>(frame, Frame.IS_STATIC) != 0) return WRITE_PROTECTION;
  require(frame, load<i64>(frame, Frame.START_GAS) - before + Params.WRITE_SENTRY_GAS + 1);
  let gas = before;
  const account: usize = load<u32>(frame, Frame.ACCOUNT);
  if (before <= Params.WRITE_SENTRY_GAS) {
    if (readsUnpaid) slotAt(account, key, before);
    return OUT_OF_GAS;
  }
  const slot = slotAt(account, key, before);
  if (slot == 0) return OUT_OF_GAS;
  if (warmSlot(slot)) gas -= Params.COLD_SLOT_GAS;
  keepOriginal(slot);
  const now = slot + Slot.VALUE;
  const original = slot + Slot.ORIGINAL;
  const isNew = isZero(original);
  const changeGas = isNew ? Params.SLOT_SET_GAS : Params.SLOT_CHANGE_GAS;
  const isSame = sameWord(now, value);
  gas -= !isSame && sameWord(now, original) ? changeGas : Params.WARM_GAS;
  if (gas < 0) return OUT_OF_GAS;
  store<i64>(frame, gas, Frame.GAS);
  if (isSame) return RUNNING;
  if (!isNew && isZero(now)) setRefund(refund - Params.param(Params.CLEARING_REFUND));
  else if (!isNew && isZero(value)) setRefund(refund + Params.param(Params.CLEARING_REFUND));
  if (sameWord(original, value)) setRefund(refund + changeGas - Params.WARM_GAS);
  setSlot(account, slot, value);
  return RUNNING;
}
