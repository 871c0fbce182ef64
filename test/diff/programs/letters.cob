      *> Names as GnuCOBOL makes them: of programs, contained programs and functions.
       IDENTIFICATION DIVISION.
       PROGRAM-ID. letters-main.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
       01 I PIC 9(9) COMP-5.
       01 TOTAL PIC 9(9) COMP-5 VALUE 0.
       PROCEDURE DIVISION.
       FIRST-PARAGRAPH.
           PERFORM ADD-UP VARYING I FROM 1 BY 1 UNTIL I > 300000.
           PERFORM 2000 TIMES
               CALL "inner-one" USING TOTAL
               CALL "outer-two" USING TOTAL
           END-PERFORM.
           STOP RUN.
       ADD-UP SECTION.
           COMPUTE TOTAL = FUNCTION MOD(TOTAL + I * 7, 65521).
       IDENTIFICATION DIVISION.
       PROGRAM-ID. inner-one.
       DATA DIVISION.
       LINKAGE SECTION.
       01 N PIC 9(9) COMP-5.
       PROCEDURE DIVISION USING N.
           ADD 1 TO N.
       END PROGRAM inner-one.
       END PROGRAM letters-main.
       IDENTIFICATION DIVISION.
       PROGRAM-ID. outer-two.
       DATA DIVISION.
       LINKAGE SECTION.
       01 N PIC 9(9) COMP-5.
       PROCEDURE DIVISION USING N.
           MULTIPLY 3 BY N.
       END PROGRAM outer-two.
