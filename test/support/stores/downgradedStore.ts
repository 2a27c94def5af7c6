/** A store as releases before keys of leaves had it: format 4, as in test/fixtures/own/store-format-4.json. */
import type {SuiteName} from "../../../storage/hash/suiteNames.ts";
import {META} from "../../../storage/record/layout.ts";
import {sealRecord} from "../../../storage/record/record.ts";
import {tamper} from "./tamper.ts";

/** @param directory - of a closed store */
export async function downgradeStore(directory: string, suite: SuiteName): Promise<void> {
  await tamper(directory, async db => {
    await db.clear({gte: Buffer.from("k"), lt: Buffer.from("l")});
    await db.del(META.keys);
    const format = Buffer.from(JSON.stringify({version: 4, suite}));
    await db.put(META.format, sealRecord(META.format, format));
  });
}
