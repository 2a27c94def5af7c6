/**
 * Who has connections to a port of this process's network, as Linux tells (proc(5)). A line of /proc/net/tcp; addresses
 * are words of 32 bits, the lowest byte first:
 *
 *    sl  local_address rem_address   st ...
 *     0: 0100007F:2161 0700007F:A6E4 01 ...      127.0.0.1:8545, 127.0.0.7:42724, established
 */
import {readFileSync} from "node:fs";

const TABLES = ["tcp", "tcp6"];

/** @returns 4 or 16 bytes for each established connection. undefined if the system has no such file */
export function listPeers(port: number): Buffer[] | undefined {
  const local = port.toString(16).toUpperCase().padStart(4, "0");
  const line = new RegExp(`^ *\\d+: [0-9A-F]+:${local} ([0-9A-F]+):[0-9A-F]{4} 01 `, "gm");
  try {
    return TABLES.flatMap(table => {
      const text = readFileSync(`/proc/self/net/${table}`, "latin1");
      return Array.from(text.matchAll(line), ([, hex]) => Buffer.from(hex as string, "hex").swap32());
    });
  } catch {
    return undefined;
  }
}
