/** SELFDESTRUCT (from cancun on as in EIP-6780), and the end of a transaction. */
import * as Account from "./accounts";
import {accountFor, ended, isEmpty, precompileAt, transaction} from "./accounts";
import {transfer} from "./calling";
import * as Frame from "./frames";
import {markDestroyed, removeAccount, setBalance, touch, warmAccount} from "./journal";
import {OUT_OF_GAS, SCRATCH, SUCCESS, VALUE_OVERFLOW, WRITE_PROTECTION} from "./layout";
import * as Params from "./params";
import {refund, setRefund} from "./run";
import {copyWord, isZero, ZERO} from "./words";

const ALL: usize = SCRATCH + 2304;

/** @param heir - the word with the beneficiary's address. @returns how the frame ends */
export function destroy(frame: usize, heir: usize, gas: i64): u32 {
  if (load<u32>(frame, Frame.IS_STATIC) != 0) return WRITE_PROTECTION;
  const self: usize = load<u32>(frame, Frame.ACCOUNT);
  let left = gas - Params.DESTROY_GAS;
  const to = accountFor(heir, left);
  if (to == 0) return OUT_OF_GAS;
  if (precompileAt(heir) == 0 && warmAccount(to)) left -= Params.COLD_ACCOUNT_GAS;
  if (!isZero(self + Account.BALANCE) && isEmpty(to)) left -= Params.NEW_ACCOUNT_GAS;
  if (left < 0) return OUT_OF_GAS;
  store<i64>(frame, left, Frame.GAS);
  touch(to);
  copyWord(ALL, self + Account.BALANCE);
  if (!transfer(self, to, ALL)) return VALUE_OVERFLOW;
  const isNew = load<u32>(self, Account.CREATED) == transaction;
  if (!isNew && Params.param(Params.DESTROYS_ONLY_NEW) != 0) return SUCCESS;
  const isFirst = load<u32>(self, Account.DESTROYED) != transaction;
  if (isFirst) setRefund(refund + Params.param(Params.DESTRUCTION_REFUND));
  setBalance(self, ZERO);
  markDestroyed(self);
  return SUCCESS;
}

/** Removes destroyed accounts, and touched ones that are empty (EIP-161). */
export function endTransaction(): void {
  let entry = ended;
  while (entry != 0) {
    const isGone = load<u32>(entry, Account.DESTROYED) == transaction;
    const isTouched = load<u32>(entry, Account.TOUCHED) == transaction;
    if (load<u32>(entry, Account.EXISTS) != 0 && (isGone || (isTouched && isEmpty(entry))))
      removeAccount(entry);
    entry = load<u32>(entry, Account.NEXT_ENDED);
  }
}
