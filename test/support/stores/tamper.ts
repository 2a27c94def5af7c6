/** Changes records in a store without proofd. */
import {Level} from "level";

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
