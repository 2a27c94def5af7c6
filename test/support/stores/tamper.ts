/** Changes records in a store without proofd. */
import {Level} from "level";

/** The record of a block below 256 goes. */
export async function removeBlockRecord(directory: string, block: number): Promise<void> {
  await tamper(directory, db => db.del(Buffer.from([0x62, 0, 0, 0, 0, 0, block])));
}

export async function tamper(
  directory: string,
  change: (db: Level<Buffer, Buffer>) => Promise<void>,
): Promise<void> {
  const db = new Level<Buffer, Buffer>(directory, {
    keyEncoding: "buffer",
    valueEncoding: "buffer",
    compression: false,
  });
  await db.open();
  try {
    await change(db);
  } finally {
    await db.close();
  }
}
