"""What the network of seven.py holds: results, pages, instant answers, rates.

Made up, and no copy of any site, but in the way such sites write: figures beside the one
that is asked for, old news that calls an older thing the latest, advice, comments. Nothing
here was changed because of what a model made of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Hit:
    """A result."""

    title: str
    url: str
    snippet: str


HITS: Final = (
    # Shares.
    Hit(
        "Tesla, Inc. (TSLA) Stock Price, News, Quote & History",
        "https://finance.yahoo.com/quote/TSLA/",
        "NasdaqGS - Nasdaq Real Time Price, USD. TSLA 428.75 +5.64 (+1.33%). Previous close "
        "423.11, open 425.30, day's range 421.60 - 430.94, 52 week range 214.25 - 488.54, volume "
        "71,284,119, market cap 1.426T, PE ratio (TTM) 286.91, 1y target est 391.35.",
    ),
    Hit(
        "TSLA Stock Forecast: Analyst Price Targets and Predictions",
        "https://www.stockpredictions.example/stocks/tsla/forecast",
        "37 analysts who cover Tesla stock have a consensus rating of Hold and an average price "
        "target of $391.35, which forecasts an 8.7% decrease within 12 months. The lowest target "
        "is $120 and the highest is $600.",
    ),
    Hit(
        "Tesla - 15 Year Stock Price History | TSLA",
        "https://www.markettrends.example/stocks/charts/TSLA/tesla/stock-price-history",
        "Historical daily share price chart and data for Tesla since 2010, adjusted for splits. "
        "The all-time high closing price was 479.86. The average stock price for the last 52 weeks"
        " is 338.42.",
    ),
    Hit(
        "Tesla shares slide 3% as deliveries in Europe fall for a tenth month",
        "https://www.dailybusinesswire.example/2025/11/tesla-shares-europe-deliveries.html",
        "Shares of Tesla closed at $417.78 on Tuesday after registrations in Europe fell 48.5% in "
        "October from a year earlier. The stock is up 6% this year, against 16% for the S&P 500.",
    ),
    Hit(
        "Tesla Investor Relations",
        "https://ir.tesla.com/",
        "Press releases, quarterly results, SEC filings, the impact report and answers for "
        "shareholders. The next annual meeting is announced here.",
    ),
    Hit(
        "Electric Cars, Solar & Clean Energy | Tesla",
        "https://www.tesla.com/",
        "Order Model Y from $39,990 or Model 3 from $36,990 before estimated savings on gas. "
        "Schedule a demo drive, or explore Powerwall and Solar Roof.",
    ),
    Hit(
        "Tesla, Inc. - Wikipedia",
        "https://en.wikipedia.org/wiki/Tesla,_Inc.",
        "Tesla, Inc. makes electric cars and batteries and has its seat in Austin, Texas. Its "
        "shares were first sold in 2010, at $17 each, and have been split twice since.",
    ),
    Hit(
        "How to Buy Tesla Stock (TSLA): A Guide for Beginners",
        "https://www.moneywise-guides.example/investing/how-to-buy-tesla-stock",
        "To buy Tesla shares you need a brokerage account. Decide how much you want to invest: one"
        " share costs several hundred dollars, but many brokers sell fractional shares from $1.",
    ),
    # Phones.
    Hit(
        "Huawei Mate 80 series announced: new Kirin chip, brighter displays, bigger batteries",
        "https://www.phonereport.example/huawei_mate_80_series_announced-news-70412.php",
        "25 November 2025 - Huawei's latest flagship phones are here. The Mate 80 Pro brings the "
        "Kirin 9030 Pro, a 50MP camera with variable aperture and a second generation Red Maple "
        "colour sensor, and a 5,750mAh battery with 100W wired charging. All run HarmonyOS 6. "
        "Prices in China start at CNY 5,999.",
    ),
    Hit(
        "Huawei Mate 70 Pro: release date, price and specs of the latest Huawei phone",
        "https://www.gadgetguide.example/phones/huawei-mate-70-pro",
        "26 Nov 2024 - Everything you need to know about the latest Huawei flagship, the Mate 70 "
        "Pro: Kirin 9020, 5,500mAh battery, 100W charging, HarmonyOS Next, from CNY 6,499.",
    ),
    Hit(
        "HUAWEI Phones | HUAWEI Global",
        "https://consumer.huawei.com/en/phones/",
        "Discover HUAWEI phones: HUAWEI Pura 80 Ultra, HUAWEI Mate X6, HUAWEI nova 14 Pro and "
        "more. Compare models, find offers and trade in your old phone.",
    ),
    Hit(
        "Best Huawei phones 2025: our favourites, tested and ranked",
        "https://www.gadgetguide.example/best/best-huawei-phones",
        "The Pura 80 Ultra has the best camera that we have seen on a phone, the Mate X6 is the "
        "foldable to get, and the nova 14 Pro is what we recommend if you are on a budget.",
    ),
    Hit(
        "Huawei Mate 80 Pro - Full phone specifications",
        "https://www.phonereport.example/huawei_mate_80_pro-14287.php",
        "Announced Nov 2025. 6.75″ LTPO OLED, 1280 x 2832 pixels, Kirin 9030 Pro, 5750 mAh, 1024 "
        "GB storage, 16 GB RAM, second generation Kunlun Glass, 3D face recognition.",
    ),
    Hit(
        "Huawei Pura 80 Ultra review: the camera to beat",
        "https://www.phonereport.example/huawei_pura_80_ultra-review-2861.php",
        "The Pura 80 Ultra, out since June 2025, has a 1-inch main sensor and two telephoto "
        "cameras that share one sensor. We tested its 5,170mAh battery, display and performance.",
    ),
    Hit(
        "Huawei - Wikipedia",
        "https://en.wikipedia.org/wiki/Huawei",
        "Huawei is a Chinese maker of telecommunications equipment, phones and other devices, "
        "founded in Shenzhen in 1987 by Ren Zhengfei.",
    ),
    Hit(
        "Huawei's smartphone shipments grow as it regains the lead in China",
        "https://www.dailybusinesswire.example/2025/10/huawei-china-smartphone-market.html",
        "Huawei shipped 12.5 million phones in China in the second quarter, 18% of the market, "
        "ahead of Vivo, Oppo, Xiaomi and Apple, research firms say.",
    ),
    # Agents.
    Hit(
        "What is a ReAct agent? | Cloud Learning Centre",
        "https://www.cloudlearning.example/topics/react-agent",
        "A ReAct agent is an AI agent that combines the reasoning of a large language model with "
        "actions such as calls of tools, in a loop of thought, action and observation.",
    ),
    Hit(
        "ReAct: Synergizing Reasoning and Acting in Language Models",
        "https://arxiv.org/abs/2210.03629",
        "Shunyu Yao and six others, 2022. The paper lets a language model write reasoning traces "
        "and actions in turns, and tests that on questions, claims, a text game and web shopping.",
    ),
    Hit(
        "React, a library for user interfaces: documentation",
        "https://react.dev/",
        "Quick start, tutorial and API reference of React. Describe the screen as components in "
        "JavaScript, on the web or in native apps.",
    ),
    Hit(
        "AgentPlatform docs: createReactAgent",
        "https://docs.agentplatform.example/reference/create-react-agent",
        "createReactAgent(model, tools, options?) returns a runnable that calls tools in a loop "
        "until a stopping condition is met. Deprecated since v1.0: use createAgent.",
    ),
    # Dogs.
    Hit(
        "Dog Breed Weight Chart: Average Weights by Breed and Sex",
        "https://www.petcarefacts.example/dog-weight-chart",
        "Border Collie male 30-55 lbs, female 30-55 lbs; Boston Terrier 12-25 lbs; Scottish "
        "Terrier male 19-22 lbs, female 18-21 lbs; Toy Poodle 4-6 lbs. See all 190 breeds.",
    ),
    Hit(
        "Border Collie - Dog Breed Information",
        "https://www.kennelregister.example/dog-breeds/border-collie/",
        "Height 19-22 inches (male), 18-21 inches (female). Weight 30-55 pounds. Life expectancy "
        "12-15 years. A herding dog, remarkably bright and energetic.",
    ),
    Hit(
        "Scottish Terrier - Dog Breed Information",
        "https://www.kennelregister.example/dog-breeds/scottish-terrier/",
        "Height 10 inches. Weight 19-22 pounds (male), 18-21 pounds (female). Life expectancy 12 "
        "years. The Scottie is independent, confident and spirited.",
    ),
    # Money.
    Hit(
        "1 USD to CNY - US Dollars to Chinese Yuan Renminbi Exchange Rate",
        "https://www.fxconverter.example/usd-to-cny",
        "Convert US dollars to Chinese yuan renminbi with live mid-market rates. In the last 30 "
        "days the high was 7.1294 and the low 7.0773. Send money from 3 USD in fees.",
    ),
    Hit(
        "US Dollar to Chinese Yuan: exchange rate history for 2024",
        "https://www.ratearchive.example/usd-cny/2024",
        "The average rate in 2024 was 7.1957 yuan for one dollar, the best 7.2995 on 31 December, "
        "the worst 7.0109 on 27 September.",
    ),
    # The time.
    Hit(
        "Current Local Time in Beijing, Beijing Municipality, China",
        "https://www.worldclocks.example/china/beijing",
        "Time zone: CST (China Standard Time), UTC/GMT +8 hours. No daylight saving time. Sunrise "
        "7:16, sunset 16:50, moon 62%. Weather, area codes and time difference.",
    ),
    Hit(
        "Time Difference between New York and Beijing",
        "https://www.worldclocks.example/difference/new-york/beijing",
        "Beijing is 13 hours ahead of New York. When it is 9:00 am in New York it is 10:00 pm in "
        "Beijing. The best time for a call is between 8 am and 9 am.",
    ),
    # Sums.
    Hit(
        "Percentage Calculator - What is X% of Y?",
        "https://www.quickcalculators.example/percentage-calculator",
        "Free percentage calculator: find a percentage of a number, an increase or a decrease. "
        "Example: 15% of 80 is 12. With formulas and a printable worksheet.",
    ),
)

INSTANT: Final[Mapping[str, Mapping[str, Any]]] = {
    "huawei": {
        "Heading": "Huawei",
        "AbstractSource": "Wikipedia",
        "AbstractURL": "https://en.wikipedia.org/wiki/Huawei",
        "AbstractText": "Huawei is a Chinese maker of telecommunications equipment, phones and "
        "other devices, founded in Shenzhen in 1987.",
        "Infobox": {
            "content": [
                {"data_type": "string", "label": "Founded", "value": "15 September 1987"},
                {"data_type": "string", "label": "Employees", "value": "208,000"},
            ]
        },
        "Type": "A",
    },
    "tesla": {
        "Heading": "Tesla",
        "Type": "D",
        "RelatedTopics": [
            {"Text": "Nikola Tesla A Serbian-American engineer and inventor."},
            {"Text": "Tesla, Inc. An American maker of electric cars and batteries."},
            {"Text": "Tesla (unit) The unit of magnetic flux density."},
        ],
    },
    "beijing": {
        "Heading": "Beijing",
        "AbstractSource": "Wikipedia",
        "AbstractURL": "https://en.wikipedia.org/wiki/Beijing",
        "AbstractText": "Beijing is the capital of China; some 22 million people live in it.",
        "Type": "A",
    },
}

PER_DOLLAR: Final[Mapping[str, float]] = {
    "USD": 1, "AED": 3.6725, "ARS": 1451.0, "AUD": 1.5294, "BDT": 122.27, "BGN": 1.6871,
    "BRL": 5.3389, "CAD": 1.3981, "CHF": 0.8042, "CLP": 928.41, "CNY": 7.0812, "COP": 3742.13,
    "CZK": 20.8436, "DKK": 6.4358, "EGP": 47.6912, "EUR": 0.8626, "GBP": 0.7559, "HKD": 7.7862,
    "HUF": 329.04, "IDR": 16651.5, "ILS": 3.2554, "INR": 89.4207, "ISK": 127.38, "JPY": 156.21,
    "KES": 129.69, "KRW": 1469.27, "KWD": 0.3067, "MAD": 9.2561, "MXN": 18.3112, "MYR": 4.1318,
    "NGN": 1444.8, "NOK": 10.1349, "NZD": 1.7462, "PEN": 3.3647, "PHP": 58.6413, "PKR": 282.35,
    "PLN": 3.6532, "QAR": 3.64, "RON": 4.3907, "RUB": 77.82, "SAR": 3.75, "SEK": 9.4613,
    "SGD": 1.2963, "THB": 32.18, "TRY": 42.47, "TWD": 31.37, "UAH": 42.21, "VND": 26288.0,
    "ZAR": 17.1406,
}  # fmt: skip

_HEADLINES: Final = "".join(
    f"<li>{text}</li>"
    for text in (
        "Robotaxi rivals test in 14 more cities (2 hours ago)",
        "Nvidia 182.55 +1.72%, Rivian 16.41 -0.90%, Ford 13.22 +0.31%",
        "Why one fund sold 120,000 shares (5 hours ago)",
    )
)

PAGES: Final[Mapping[str, tuple[str, str]]] = {
    "https://finance.yahoo.com/quote/TSLA/": (
        "Tesla, Inc. (TSLA)",
        "<article><h1>Tesla, Inc. (TSLA)</h1><p>NasdaqGS - Nasdaq Real Time Price. Currency in "
        "USD.</p><section><p>428.75 +5.64 (+1.33%)</p><p>At close: 4:00:01 PM "
        "EST</p></section><table><tr><td>Previous close</td><td>423.11</td><td>Market "
        "cap</td><td>1.426T</td></tr><tr><td>Open</td><td>425.30</td><td>Beta (5Y "
        "monthly)</td><td>1.88</td></tr><tr><td>Bid</td><td>428.50 x 100</td><td>PE ratio "
        "(TTM)</td><td>286.91</td></tr><tr><td>Ask</td><td>428.96 x 200</td><td>EPS "
        "(TTM)</td><td>1.49</td></tr><tr><td>Day's range</td><td>421.60 - 430.94</td><td>Earnings "
        "date</td><td>Jan 28</td></tr><tr><td>52 week range</td><td>214.25 - 488.54</td><td>1y "
        "target est</td><td>391.35</td></tr></table><h2>Recent news: TSLA</h2><ul>"
        f"{_HEADLINES}"
        "</ul><h2>Tesla, Inc. overview</h2><p>Tesla, Inc. designs, develops, makes, leases and "
        "sells electric vehicles, and energy generation and storage systems in the United States, "
        "China and elsewhere. It has 125,665 full time employees.</p></article>",
    ),
    "https://www.phonereport.example/huawei_mate_80_series_announced-news-70412.php": (
        "Huawei Mate 80 series announced",
        "<article><h1>Huawei Mate 80 series announced: new Kirin chip, brighter displays, bigger "
        "batteries</h1><p>25 November 2025. 214 comments</p><p>A year after the Mate 70, Huawei "
        "has taken the wraps off four new phones in Shanghai: Mate 80, Mate 80 Pro, Mate 80 Pro "
        "Max and Mate 80 RS.</p><p>The Mate 80 Pro has a 6.75-inch LTPO OLED that goes from 1 to "
        "120Hz, under the second generation of Kunlun Glass. The Kirin 9030 Pro inside is said to "
        "be 35% faster than the 9020 of the Mate 70 Pro.</p><p>The main camera is 50MP with an "
        "aperture from f/1.4 to f/4.0; next to it are a 48MP telephoto with 4x zoom, a 40MP "
        "ultrawide and the second generation Red Maple sensor, which gets colours right in mixed "
        "light.</p><p>The battery holds 5,750mAh, with 100W wired and 80W wireless charging. The "
        "Pro Max steps up to 6,000mAh. Satellite calls and messages work without a network, and "
        "HarmonyOS 6 is on board.</p><p>The Mate 80 costs CNY 4,699, the Pro CNY 5,999, the Pro "
        "Max CNY 7,999, on sale from 28 November. There is no word of a launch outside China. "
        "Huawei also showed a watch and new earbuds, from CNY 1,099.</p><h2>Comments</h2><p>Anon, "
        "3h: still no Google. My Pura 70 gets two days out of a charge.</p></article>",
    ),
    "https://www.phonereport.example/huawei_mate_80_pro-14287.php": (
        "Huawei Mate 80 Pro - Full phone specifications",
        "<article><h1>Huawei Mate 80 Pro</h1><table><tr><th>Launch</th><td>Announced 25 November "
        "2025. Released 28 November 2025</td></tr><tr><th>Body</th><td>162.5 x 77.5 x 8.3 mm, 239 "
        "g, IP68/IP69</td></tr><tr><th>Display</th><td>LTPO OLED, 1B colours, 120Hz, 6.75 inches, "
        "Kunlun Glass 2</td></tr><tr><th>Platform</th><td>HarmonyOS 6, Kirin 9030 "
        "Pro</td></tr><tr><th>Main camera</th><td>50 MP f/1.4-4.0; 48 MP periscope, 4x; 40 MP "
        "ultrawide; Red Maple 2</td></tr><tr><th>Battery</th><td>5750 mAh, 100W wired, 80W "
        "wireless</td></tr></table><p>Disclaimer: we cannot guarantee that this page is 100% "
        "correct. 1,204 fans, popularity 61%.</p></article>",
    ),
    "https://consumer.huawei.com/en/phones/": (
        "HUAWEI Phones",
        "<section><h1>Phones</h1><p>Filter: Pura series, Mate series, nova "
        "series</p><ul><li>HUAWEI Pura 80 Ultra. New. From £1,299</li><li>HUAWEI Pura 80 Pro. From"
        " £899</li><li>HUAWEI Mate X6. Foldable. From £1,799</li><li>HUAWEI nova 14 Pro. From "
        "£499</li></ul><p>Trade in and save up to £300. Offers end 2 December.</p></section>",
    ),
}
