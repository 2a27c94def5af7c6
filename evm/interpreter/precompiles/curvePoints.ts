/** Encoding of curve points in the inputs and outputs of precompiles: x, y. The point at infinity is 0, 0. */
import type {WeierstrassPoint, WeierstrassPointCons} from "@noble/curves/abstract/weierstrass.js";
import {encodeNumber, readNumber} from "./numbers.ts";
import {require} from "./precompile.ts";

/** How a coordinate, an element of Fp or Fp2, is encoded. */
interface Coordinate<Element> {
  /** The numbers of an element, in encoding order. */
  readonly split: (element: Element) => readonly bigint[];
  readonly join: (...numbers: readonly bigint[]) => Element;
  readonly numbers: number;
  /** Bytes per number. */
  readonly bytes: number;
  /** Numbers must be below it. */
  readonly order: bigint;
}

export class CurvePoints<Element> {
  readonly coordinateBytes: number;
  readonly bytes: number;

  constructor(
    readonly Point: WeierstrassPointCons<Element>,
    private readonly coordinate: Coordinate<Element>,
  ) {
    this.coordinateBytes = coordinate.numbers * coordinate.bytes;
    this.bytes = 2 * this.coordinateBytes;
  }

  /** @throws PrecompileRefusal, as the other read methods */
  readCoordinate(data: Uint8Array, at: number): Element {
    const {join, numbers, bytes, order} = this.coordinate;
    const read = Array.from({length: numbers}, (_, part) => readNumber(data, at + part * bytes, bytes));
    require(read.every(number => number < order), "a coordinate is not in the field");
    return join(...read);
  }

  read(data: Uint8Array, at: number): WeierstrassPoint<Element> {
    const {Point} = this;
    const {Fp} = Point;
    const [x, y] = [this.readCoordinate(data, at), this.readCoordinate(data, at + this.coordinateBytes)];
    if (Fp.is0(x) && Fp.is0(y)) return Point.ZERO;
    const isOnCurve = Fp.eql(Fp.sqr(y), Fp.add(Fp.mul(Fp.sqr(x), x), Point.CURVE().b));
    require(isOnCurve, "a point is not on the curve");
    return Point.fromAffine({x, y});
  }

  readMember(data: Uint8Array, at: number): WeierstrassPoint<Element> {
    const point = this.read(data, at);
    require(point.is0() || point.isTorsionFree(), "a point is not in the group");
    return point;
  }

  encode(point: WeierstrassPoint<Element>): Uint8Array {
    const {split, bytes} = this.coordinate;
    const {x, y} = point.toAffine();
    return Buffer.concat([...split(x), ...split(y)].map(number => encodeNumber(number, bytes)));
  }
}
