/** SLOAD and SSTORE, and their gas (EIP-2200, EIP-2929, EIP-3529). */
import {require} from "./calling";
import {ACCOUNT, GAS, IS_STATIC, START_GAS} from "./frames";
import {setSlot, warmSlot} from "./journal";
import {OUT_OF_GAS, RUNNING, WRITE_PROTECTION} from "./layout";
import {clearingRefund, coldSlotGas, slotChangeGas, slotSetGas, warmGas, writeSentryGas} from "./params";
import {refund, setRefund} from "./refunds";
import {keepOriginal, ORIGINAL, slotAt, VALUE} from "./slots";
import {isZero, sameWord} from "./words";

/** @param gas - of the frame. @returns RUNNING, with its gas stored; or how it ends */
export function writeSlot(frame: usize, key: usize, value: usize, before: i64): u32 {
  if (load<u32>(frame, IS_STATIC) != 0) return WRITE_PROTECTION;
  require(frame, load<i64>(frame, START_GAS) - before + writeSentryGas() + 1);
  if (before <= writeSentryGas()) return OUT_OF_GAS;
  let gas = before;
  const account: usize = load<u32>(frame, ACCOUNT);
  const slot = slotAt(account, key, before);
  if (slot == 0) return OUT_OF_GAS;
  if (warmSlot(slot)) gas -= coldSlotGas();
  keepOriginal(slot);
  const now = slot + VALUE;
  if (sameWord(now, value)) {
    gas -= warmGas();
    if (gas < 0) return OUT_OF_GAS;
    store<i64>(frame, gas, GAS);
    return RUNNING;
  }
  const original = slot + ORIGINAL;
  const isNew = isZero(original);
  if (sameWord(now, original)) {
    gas -= isNew ? slotSetGas() : slotChangeGas();
    if (gas < 0) return OUT_OF_GAS;
    if (!isNew && isZero(value)) setRefund(refund + clearingRefund());
  } else {
    gas -= warmGas();
    if (gas < 0) return OUT_OF_GAS;
    if (!isNew) {
      if (isZero(now)) setRefund(refund - clearingRefund());
      else if (isZero(value)) setRefund(refund + clearingRefund());
    }
    if (sameWord(original, value)) setRefund(refund + (isNew ? slotSetGas() : slotChangeGas()) - warmGas());
  }
  setSlot(account, slot, value);
  store<i64>(frame, gas, GAS);
  return RUNNING;
}
