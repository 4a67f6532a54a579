import { expect, it } from 'vitest';
import { parseJson } from '../../src/config/config.ts';

it.each([
  ['{\n "a": 1,\n}', /, line 3, column 1$/],
  ['{"a" 1}', /, line 1, column 6$/],
  ['{\n"a": tru}', /^Unexpected token '}', line 2, column 9$/],
  ['{"a": [1,\n2', /, line 2, column 2$/],
  ['{"a":1}}', /, line 1, column 8$/],
  ['hello', /^Unexpected token 'h', line 1, column 1$/],
  [`{\n "${'a'.repeat(99)}": 1,\n "b": x,\n"c": "${'x'.repeat(99)}"}`, /^Unexpected token 'x', line 3, column 7$/],
  ['  \n', /^it is empty$/],
])('says where it is wrong: %j', (text, place) => {
  expect(() => parseJson(text)).toThrow(place);
});

it('reads what is right', () => {
  expect(parseJson('{"a": [1, null]}')).toEqual({ a: [1, null] });
});
