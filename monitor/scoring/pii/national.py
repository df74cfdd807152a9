"""National identity numbers with check digits, by language, and the words they stand beside.

The check digits are python-stdnum's. A kind whose check as many random digits or letters in a row
pass more often than once in a thousand counts only beside one of its words.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class NationalId:
    """One kind of number. ``shape`` is a linear pattern, ``checker`` a module of python-stdnum.

    ``words`` is a pattern of what such a number is called; it may stand ``alone`` without them.
    In a ``lettered`` one fewer than seven digits follow each other.
    """

    kind: str
    checker: str
    shape: str
    words: str
    alone: bool = False
    lettered: bool = False


_GROUPED_9 = r"\d{3}[ -]?\d{3}[ -]?\d{3}"

NATIONAL_IDS: dict[str, tuple[NationalId, ...]] = {
    "en": (
        NationalId(
            kind="UK_NHS",
            checker="gb.nhs",
            shape=r"\d{3}[ -]?\d{3}[ -]?\d{4}",
            words=r"\bnhs\b|national health",
        ),
        NationalId(
            kind="CA_SIN",
            checker="ca.sin",
            shape=_GROUPED_9,
            words=r"\bsin\b|social insurance",
        ),
        NationalId(
            kind="AU_TFN",
            checker="au.tfn",
            shape=r"\d{3}[ -]?\d{3}[ -]?\d{2,3}",
            words=r"\btfn\b|tax file",
        ),
        NationalId(
            kind="NZ_IRD",
            checker="nz.ird",
            shape=r"\d{2,3}[ -]?\d{3}[ -]?\d{3}",
            words=r"\bird\b|inland revenue",
        ),
        NationalId(
            kind="IE_PPS",
            checker="ie.pps",
            shape=r"\d{7}[A-W][A-IW]?",
            words=r"\bpps|personal public service",
        ),
        NationalId(
            kind="IN_AADHAAR",
            checker="in_.aadhaar",
            shape=r"[2-9]\d{3}[ -]?\d{4}[ -]?\d{4}",
            words=r"aadhaar|aadhar|\buidai\b",
        ),
        NationalId(
            kind="ZA_ID_NUMBER",
            checker="za.idnr",
            shape=r"\d{6}[ ]?\d{4}[ ]?\d{3}",
            words=r"south africa|\brsa\b|identity number|\bid (?:number|no\b)",
        ),
    ),
    "zh": (
        NationalId(
            kind="CN_ID_CARD",
            checker="cn.ric",
            shape=r"[1-9]\d{5}[ -]?(?:19|20)\d{6}[ -]?\d{3}[\dXx]",
            words="身份证|身份證|证件号|公民身份",
            alone=True,
        ),
    ),
    "de": (
        NationalId(
            kind="DE_TAX_ID",
            checker="de.idnr",
            shape=r"[1-9]\d[ ]?\d{3}[ ]?\d{3}[ ]?\d{3}",
            words=r"steuer|\bidnr\b|tax id",
        ),
        NationalId(
            kind="AT_SVNR",
            checker="at.vnr",
            shape=r"\d{4}[ ]?\d{6}",
            words=r"sozialversicherung|\bsvnr\b|\bsv-nummer",
        ),
        NationalId(
            kind="CH_AHV",
            checker="ch.ssn",
            shape=r"756[. ]?\d{4}[. ]?\d{4}[. ]?\d{2}",
            words=r"\bahv|\bavs\b",
            alone=True,
        ),
    ),
    "fr": (
        NationalId(
            kind="FR_NIR",
            checker="fr.nir",
            shape=r"[12][ ]?\d{2}[ ]?\d{2}[ ]?(?:\d{2}|2[AB])[ ]?\d{3}[ ]?\d{3}[ ]?\d{2}",
            words=r"sécurité sociale|securite sociale|\bnir\b|num[ée]ro de s[ée]cu",
        ),
        NationalId(
            kind="BE_NN",
            checker="be.nn",
            shape=r"\d{2}[. ]?\d{2}[. ]?\d{2}[- ]?\d{3}[. ]?\d{2}",
            words=r"registre national|rijksregister|\bniss\b|\binsz\b",
        ),
    ),
    "es": (
        NationalId(
            kind="ES_NIF",
            checker="es.dni",
            shape=r"\d{8}[ -]?[A-Z]",
            words=r"\bdni\b|\bnif\b|documento",
        ),
        NationalId(
            kind="ES_NIE",
            checker="es.nie",
            shape=r"[XYZ][ -]?\d{7}[ -]?[A-Z]",
            words=r"\bnie\b|extranjer",
        ),
        NationalId(
            kind="MX_CURP",
            checker="mx.curp",
            shape=r"[A-Z]{4}\d{6}[HM][A-Z]{5}[A-Z0-9]\d",
            words=r"\bcurp\b",
            alone=True,
            lettered=True,
        ),
        NationalId(
            kind="CL_RUT",
            checker="cl.rut",
            shape=r"\d{1,2}[.]?\d{3}[.]?\d{3}-?[\dKk]",
            words=r"\brut\b|\brun\b",
        ),
    ),
    "it": (
        NationalId(
            kind="IT_FISCAL_CODE",
            checker="it.codicefiscale",
            shape=r"[A-Z]{6}\d{2}[A-EHLMPR-T]\d{2}[A-Z]\d{3}[A-Z]",
            words=r"codice fiscale",
            alone=True,
            lettered=True,
        ),
    ),
    "pt": (
        NationalId(
            kind="BR_CPF",
            checker="br.cpf",
            shape=r"\d{3}[.]?\d{3}[.]?\d{3}-?\d{2}",
            words=r"\bcpf\b",
        ),
        NationalId(
            kind="PT_NIF",
            checker="pt.nif",
            shape=_GROUPED_9,
            words=r"\bnif\b|contribuinte",
        ),
    ),
    "nl": (
        NationalId(
            kind="NL_BSN",
            checker="nl.bsn",
            shape=r"\d{4}[. ]?\d{2}[. ]?\d{3}",
            words=r"\bbsn\b|burgerservice|sofinummer",
        ),
    ),
    "pl": (NationalId(kind="PL_PESEL", checker="pl.pesel", shape=r"\d{11}", words=r"\bpesel\b"),),
    "sv": (
        NationalId(
            kind="SE_PERSONNUMMER",
            checker="se.personnummer",
            shape=r"(?:19|20)?\d{6}[-+]?\d{4}",
            words=r"person(?:nummer|nr)",
        ),
    ),
    "fi": (
        NationalId(
            kind="FI_PERSONAL_IDENTITY_CODE",
            checker="fi.hetu",
            shape=r"\d{6}[-+A-FU-Y]\d{3}[0-9A-FHJ-NPR-Y]",
            words=r"henkilötunnus|\bhetu\b",
            lettered=True,
        ),
    ),
    "da": (
        NationalId(
            kind="DK_CPR",
            checker="dk.cpr",
            shape=r"\d{6}-?\d{4}",
            words=r"\bcpr\b|personnummer",
        ),
    ),
    "nb": (
        NationalId(
            kind="NO_FODSELSNUMMER",
            checker="no.fodselsnummer",
            shape=r"\d{6}[ ]?\d{5}",
            words=r"fødselsnummer|fodselsnummer|personnummer",
        ),
    ),
    "cs": (
        NationalId(
            kind="CZ_RC",
            checker="cz.rc",
            shape=r"\d{6}/?\d{3,4}",
            words=r"rodné číslo|rodne cislo|r\.č\.",
        ),
    ),
    "ro": (
        NationalId(
            kind="RO_CNP",
            checker="ro.cnp",
            shape=r"[1-9]\d{12}",
            words=r"\bcnp\b|cod numeric",
        ),
    ),
    "tr": (
        NationalId(
            kind="TR_NATIONAL_ID",
            checker="tr.tckimlik",
            shape=r"[1-9]\d{10}",
            words=r"kimlik|\btckn\b",
        ),
    ),
    "ko": (
        NationalId(
            kind="KR_RRN",
            checker="kr.rrn",
            shape=r"\d{6}-?[1-8]\d{6}",
            words="주민등록|주민번호",
        ),
    ),
    "ja": (
        NationalId(
            kind="JP_MY_NUMBER",
            checker="jp.in_",
            shape=r"\d{4}[ -]?\d{4}[ -]?\d{4}",
            words="マイナンバー|個人番号",
        ),
    ),
    "th": (
        NationalId(
            kind="TH_TNIN",
            checker="th.pin",
            shape=r"[1-8][ -]?\d{4}[ -]?\d{5}[ -]?\d{2}[ -]?\d",
            words="บัตรประชาชน|เลขประจำตัว",
        ),
    ),
    "ru": (NationalId(kind="RU_INN", checker="ru.inn", shape=r"\d{12}", words=r"\bинн\b"),),
}
