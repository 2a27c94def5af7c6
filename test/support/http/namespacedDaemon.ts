/** A service that also answers the methods of the live network, with one proof thread. */
import {OwnService} from "./ownService.ts";

const FLAGS = "--workers 1 --hardfork prague --namespace linea";

/** @param db - folder of the store */
export function startNamespaced(db: string): Promise<OwnService> {
  return OwnService.serve(["--db", db, ...FLAGS.split(" ")], {estimates: true});
}
