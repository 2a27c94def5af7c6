import type {OnConversion} from "../storage/convert/convertStore.ts";

/** What a log, or a command's standard error, says of a conversion. */
export function describeConversion(write: (text: string) => void): OnConversion {
  return ({isDone, from, to}) =>
    write(
      isDone
        ? `the store has format ${to} now`
        : `converting the store from format ${from} to ${to}: older releases cannot open it any more`,
    );
}

/** For commands. */
export const sayConversion: OnConversion = describeConversion(text => process.stderr.write(`${text}\n`));
