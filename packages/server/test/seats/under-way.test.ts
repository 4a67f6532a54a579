import { placesInMemory } from '../../src/seats/under-way.ts';
import { testPlaces } from '../support/places-conformance.ts';

testPlaces(() => placesInMemory(Date.now));
