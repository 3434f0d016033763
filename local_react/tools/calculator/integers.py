"""Functions of whole numbers: divisors, primes, ways to choose."""

from __future__ import annotations

import math
from functools import reduce
from typing import Final

import sympy as sp

from local_react.errors import ToolError
from local_react.tools.calculator import numbers
from local_react.tools.calculator.functions import whole
from local_react.tools.calculator.numbers import MAX_DIGITS, Number, settle, too_large
from local_react.tools.calculator.values import Content, Told

_FACTOR_DIGITS: Final = 40
"""Digits of a number that is taken apart: two primes of 20 digits are found in time."""
_PRIME_DIGITS: Final = 300
_NTH_PRIME: Final = 1_000_000


def gcd(*values: Number) -> Number:
    return numbers.integer(math.gcd(*(whole(value, "gcd") for value in values)))


def lcm(*values: Number) -> Number:
    found = [whole(value, "lcm") for value in values]
    return reduce(
        lambda a, b: settle(numbers.integer(math.lcm(int(a), b))), found, numbers.integer(1)
    )


def permutations(top: Number, bottom: Number | None = None) -> Number:
    """Return in how many orders `bottom` things can be drawn from `top`; all by default."""
    n = whole(top, "permutations", at_least=0)
    k = n if bottom is None else whole(bottom, "permutations", at_least=0)
    if k > n:
        return numbers.integer(0)
    if k and k * math.log10(n) > MAX_DIGITS:
        raise too_large("that number of permutations")
    return numbers.integer(math.perm(n, k))


def factorization(value: Number) -> Content:
    """Return the prime factors as text: 2^3 * 3^2 * 5."""
    number = whole(value, "factor")
    _check_size(number, _FACTOR_DIGITS, "a number is taken apart")
    if abs(number) < 2:
        return value
    powers = [
        f"{prime}^{times}" if times > 1 else f"{prime}"
        for prime, times in sorted(sp.factorint(abs(number)).items())
    ]
    return Told(("-1 * " if number < 0 else "") + " * ".join(powers))


def prime_factors(value: Number) -> Content:
    number = whole(value, "primefactors", at_least=1)
    _check_size(number, _FACTOR_DIGITS, "a number is taken apart")
    return tuple(numbers.integer(int(prime)) for prime in sorted(sp.factorint(number)))


def divisors(value: Number) -> Content:
    number = whole(value, "divisors", at_least=1)
    _check_size(number, _FACTOR_DIGITS, "a number is taken apart")
    if sp.divisor_count(number) > 200:
        raise ToolError(f"too large: it has {sp.divisor_count(number)} divisors, too many to list")
    return tuple(numbers.integer(int(each)) for each in sp.divisors(number))


def is_prime(value: Number) -> bool:
    number = whole(value, "isprime")
    _check_size(number, _PRIME_DIGITS, "a number is tested")
    return bool(sp.isprime(number))


def next_prime(value: Number) -> Number:
    number = whole(value, "nextprime")
    _check_size(number, 60, "the next prime is found")
    return numbers.integer(int(sp.nextprime(number)))


def previous_prime(value: Number) -> Number:
    number = whole(value, "prevprime", at_least=3)
    _check_size(number, 60, "the previous prime is found")
    return numbers.integer(int(sp.prevprime(number)))


def nth_prime(value: Number) -> Number:
    number = whole(value, "prime", at_least=1, at_most=_NTH_PRIME)
    return numbers.integer(int(sp.prime(number)))


def primes(first: Number, last: Number | None = None) -> Content:
    """Return the primes up to a number, or from one to another."""
    low, high = (
        (0, whole(first, "primes"))
        if last is None
        else (
            whole(first, "primes"),
            whole(last, "primes"),
        )
    )
    if high > 10**12 or high - low > 10_000:
        raise ToolError("too large: primes are listed over a stretch of up to 10000")
    found = tuple(numbers.integer(int(each)) for each in sp.primerange(max(low, 0), high + 1))
    if len(found) > 200:
        raise ToolError(f"too large: there are {len(found)} primes there, too many to list")
    return found


def totient(value: Number) -> Number:
    number = whole(value, "totient", at_least=1)
    _check_size(number, _FACTOR_DIGITS, "a number is taken apart")
    return numbers.integer(int(sp.totient(number)))


def fibonacci(value: Number) -> Number:
    number = whole(value, "fibonacci", at_least=0, at_most=90_000)
    return numbers.integer(int(sp.fibonacci(number)))


def digit_sum(value: Number) -> Number:
    number = abs(whole(value, "digitsum"))
    total = 0
    while number:
        number, digit = divmod(number, 10)
        total += digit
    return numbers.integer(total)


def _check_size(number: int, digits: int, what: str) -> None:
    if abs(number) >= 10**digits:
        raise ToolError(f"too large: {what} of up to {digits} digits")
