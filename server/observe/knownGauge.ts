/** A gauge whose figure may be unknown, and is not shown then. */
import {Gauge, type Registry} from "prom-client";

export function registerKnown(
  registers: Registry[],
  name: string,
  help: string,
  read: () => number | undefined,
): void {
  new Gauge({
    name,
    help,
    registers,
    collect() {
      const value = read();
      if (value === undefined) this.remove();
      else this.set(value);
    },
  });
}
